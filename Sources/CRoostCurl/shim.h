// libcurl, with functions in place of the variadic ones, which Swift can't call.

#ifndef ROOST_CURL_H
#define ROOST_CURL_H

#include <curl/curl.h>

typedef size_t (*roost_curl_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode roost_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode roost_curl_set_size(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

// curl keeps a copy of the text.
static inline CURLcode roost_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

// What `value` points to must stay until the handle is cleaned up.
static inline CURLcode roost_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

// curl keeps a copy of the bytes.
static inline CURLcode roost_curl_set_blob(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}

// The functions that give curl a body to send, and take the lines of a head and the bytes of a body.
static inline void roost_curl_set_callbacks(CURL *handle, roost_curl_callback read, roost_curl_callback header,
                                            roost_curl_callback write, void *context) {
    curl_easy_setopt(handle, CURLOPT_READFUNCTION, read);
    curl_easy_setopt(handle, CURLOPT_READDATA, context);
    curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, header);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, write);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
}

static inline CURLMcode roost_curl_multi_set_number(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// The socket of a connection that was made for a program's own use; -1 when there is none.
static inline curl_socket_t roost_curl_socket(CURL *handle) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    return curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK ? socket : CURL_SOCKET_BAD;
}

// The next transfer that has ended, and how; NULL when there is none.
static inline CURL *roost_curl_multi_ended(CURLM *multi, CURLcode *result) {
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg != CURLMSG_DONE) continue;
        *result = message->data.result;
        return message->easy_handle;
    }
    return NULL;
}

#endif
