// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/// Sets the oldest version of TLS that is used. Swift cannot call the macro itself.
static inline long plaza_SSL_CTX_set_min_proto_version(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}

/// Sets the name of the server whose certificate the client requests. Swift cannot call the macro itself.
static inline long plaza_SSL_set_tlsext_host_name(SSL *session, const char *name) {
    return SSL_set_tlsext_host_name(session, name);
}
