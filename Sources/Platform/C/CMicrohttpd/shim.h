// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <microhttpd.h>

// `MHD_get_connection_info` has variable arguments, so Swift cannot call it.

/// The address of the connection's peer; NULL if it is not known.
static inline const struct sockaddr *plaza_mhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// The size in bytes of the request line and headers of the connection's request; 0 while they are being received.
static inline size_t plaza_mhd_head_bytes(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// The descriptor of the connection's socket; -1 if it is not known.
static inline int plaza_mhd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}
