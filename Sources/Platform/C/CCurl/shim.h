// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>

// curl sets options and returns information by variadic functions, which Swift cannot call. Therefore each type of
// value has a plain function here.

static inline CURLcode plaza_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode plaza_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode plaza_curl_set_headers(CURL *handle, struct curl_slist *headers) {
    return curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
}

static inline CURLcode plaza_curl_set_writer(
    CURL *handle, size_t (*writer)(char *, size_t, size_t, void *), void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, writer);
    return code == CURLE_OK ? curl_easy_setopt(handle, CURLOPT_WRITEDATA, context) : code;
}

static inline long plaza_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

// The result of a finished transfer. It is in a C union, which this function reads for Swift.
static inline CURLcode plaza_curl_result(const CURLMsg *message) { return message->data.result; }
