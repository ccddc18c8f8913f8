// OpenSSL's libssl, with functions in place of the macros, which Swift can't call.

#ifndef ROOST_OPENSSL_H
#define ROOST_OPENSSL_H

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

// What every connection keeps to: TLS 1.2 and 1.3 with forward secrecy and authenticated encryption; no compression, no
// renegotiation, and nothing that lets a later connection begin with an earlier one's secrets.
static inline int roost_ssl_restrict(SSL_CTX *context) {
    SSL_CTX_set_security_level(context, 2);
    SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET
                                     | SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) && SSL_CTX_set_num_tickets(context, 0)
           && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20")
           && SSL_CTX_set_ciphersuites(
               context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256");
}

// HTTP/1.1 is what is spoken; who offers only others (RFC 7301) is refused.
static inline int roost_ssl_choose_protocol(SSL *session, const unsigned char **chosen, unsigned char *length,
                                            const unsigned char *offered, unsigned int count, void *context) {
    static const unsigned char ours[] = "\x08http/1.1";
    int found = SSL_select_next_proto((unsigned char **)chosen, length, ours, sizeof ours - 1, offered, count);
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static inline void roost_ssl_speak_http(SSL_CTX *context) {
    SSL_CTX_set_alpn_select_cb(context, roost_ssl_choose_protocol, NULL);
}

// Adds a certificate to the chain below the first, and a reference to it.
static inline int roost_ssl_add_to_chain(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

// A key that is encrypted is asked for its passphrase here: notes that and gives none.
static inline int roost_pem_note_passphrase(char *buffer, int size, int writing, void *wasAsked) {
    *(int *)wasAsked = 1;
    return -1;
}

// The private key in PEM; NULL where there is none, or it is encrypted, which `isEncrypted` then tells.
static inline EVP_PKEY *roost_pem_read_key(BIO *bytes, int *isEncrypted) {
    *isEncrypted = 0;
    return PEM_read_bio_PrivateKey(bytes, NULL, roost_pem_note_passphrase, isEncrypted);
}

#endif
