
/*
 * Tokens: a line that chooses a key and rules, a line with the header, and the
 * payload; both are signed here, so that anything can be in a good token.
 * What verifies has the signature that its header says, is as its payload
 * says, within its times and no others, and with a character changed it is no
 * token.  With "-" as the key what follows is a whole token.
 */

#include "fuzz.h"
#include "ngx_queues_base_json.h"
#include "ngx_queues_base_jwt.h"
#include "ngx_queues_base_text.h"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>


#define FUZZ_NOW        1700000000
#define FUZZ_SIGNATURE  512
#define FUZZ_CHANGES    3

/* the second one has a name, and is for HS512 */
#define FUZZ_SECRET     "0123456789abcdef0123456789abcdef"
#define FUZZ_NAMED      "ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
#define FUZZ_OTHER      "nobody has this secret but for us"
#define FUZZ_JWKS                                                             \
    "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"hs\",\"alg\":\"HS512\",\"k\":"     \
    "\"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU\"}]}"


typedef struct {
    u_char          letter;
    const char     *alg;
    const char     *secret;             /* NULL: pkey */
    const EVP_MD *(*md)(void);
    EVP_PKEY       *pkey;
} fuzz_key_t;


static fuzz_key_t  fuzz_signers[] = {
    { 'h', "HS256", FUZZ_SECRET, EVP_sha256, NULL },
    { 'j', "HS384", FUZZ_SECRET, EVP_sha384, NULL },
    { 'k', "HS512", FUZZ_NAMED, EVP_sha512, NULL },
    { 'o', "HS256", FUZZ_OTHER, EVP_sha256, NULL },
    { 'r', "RS256", NULL, EVP_sha256, NULL },
    { 's', "RS512", NULL, EVP_sha512, NULL },
    { 'e', "ES256", NULL, EVP_sha256, NULL },
    { 'd', "EdDSA", NULL, NULL, NULL },
    { '\0', NULL, NULL, NULL, NULL }
};


/* by the digit of the first line */

static ngx_queues_base_jwt_rules_t  fuzz_rules[] = {
    { ngx_null_string, ngx_null_string, ngx_string("roles"), 0, 0 },
    { ngx_null_string, ngx_null_string, ngx_string("a.b"), 60, 0 },
    { ngx_string("https:\\/\\/i"), ngx_null_string, ngx_string("scope"), 0, 0 },
    { ngx_null_string, ngx_string("us"), ngx_string("a.b.c"), 60, 0 },
    { ngx_string("i"), ngx_string("us"), ngx_string("sub"), 3600, 0 },
    { ngx_null_string, ngx_null_string, ngx_string("..a."), 0, 0 },
    { ngx_null_string, ngx_null_string, ngx_string(""), 0, 0 }
};


static ngx_queues_base_jwt_keys_t  *fuzz_keys;


static void
fuzz_add(const char *text, size_t len)
{
    ngx_str_t    file;
    ngx_uint_t   number;
    const char  *error;

    file.data = (u_char *) text;
    file.len = len;

    fuzz_assert(ngx_queues_base_jwt_keys_add(fuzz_keys, &file, &error, &number)
                == NGX_OK);
}


static void
fuzz_init(void)
{
    BIO         *bio;
    long         len;
    char        *pem;
    EVP_PKEY    *rsa;
    fuzz_key_t  *key;

    fuzz_keys = ngx_queues_base_jwt_keys_create();
    fuzz_assert(fuzz_keys);

    fuzz_add(FUZZ_SECRET, sizeof(FUZZ_SECRET) - 1);
    fuzz_add(FUZZ_JWKS, sizeof(FUZZ_JWKS) - 1);

    rsa = NULL;

    for (key = fuzz_signers; key->letter; key++) {
        if (key->secret) {
            continue;
        }

        if (key->letter == 's') {
            key->pkey = rsa;
            continue;
        }

        switch (key->letter) {
        case 'r':
            rsa = EVP_RSA_gen(2048);
            key->pkey = rsa;
            break;
        case 'e':
            key->pkey = EVP_EC_gen("P-256");
            break;
        default:
            key->pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
        }

        bio = BIO_new(BIO_s_mem());
        fuzz_assert(key->pkey && bio
                    && PEM_write_bio_PUBKEY(bio, key->pkey) == 1);

        len = BIO_get_mem_data(bio, &pem);
        fuzz_add(pem, len);

        BIO_free(bio);
    }
}


/* r and s side by side, as JWS wants them */

static size_t
fuzz_flat(u_char *signature, size_t len)
{
    ECDSA_SIG     *sig;
    const u_char  *p;

    p = signature;
    sig = d2i_ECDSA_SIG(NULL, &p, (long) len);

    fuzz_assert(sig
                && BN_bn2binpad(ECDSA_SIG_get0_r(sig), signature, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(sig), signature + 32, 32)
                   == 32);

    ECDSA_SIG_free(sig);

    return 64;
}


static size_t
fuzz_sign(fuzz_key_t *key, ngx_str_t *text, u_char *signature)
{
    size_t         len;
    EVP_MD_CTX    *ctx;
    unsigned int   n;

    if (key->secret) {
        fuzz_assert(HMAC(key->md(), key->secret, (int) strlen(key->secret),
                         text->data, text->len, signature, &n));
        return n;
    }

    len = FUZZ_SIGNATURE;
    ctx = EVP_MD_CTX_new();

    fuzz_assert(EVP_DigestSignInit(ctx, NULL, key->md ? key->md() : NULL, NULL,
                                   key->pkey)
                == 1
                && EVP_DigestSign(ctx, signature, &len, text->data, text->len)
                   == 1);

    EVP_MD_CTX_free(ctx);

    return key->letter == 'e' ? fuzz_flat(signature, len) : len;
}


static ngx_str_t
fuzz_token(fuzz_key_t *key, ngx_str_t *header, ngx_str_t *payload)
{
    u_char      *p, *buf, signature[FUZZ_SIGNATURE];
    size_t       len;
    ngx_str_t    text, token;

    buf = fuzz_alloc(2 * (header->len + payload->len + FUZZ_SIGNATURE) + 8);

    p = ngx_queues_base_base64url_print(buf, header->data, header->len);
    *p++ = '.';
    p = ngx_queues_base_base64url_print(p, payload->data, payload->len);

    text.data = buf;
    text.len = p - buf;

    len = fuzz_sign(key, &text, signature);

    *p++ = '.';
    p = ngx_queues_base_base64url_print(p, signature, len);

    token = fuzz_copy(buf, p - buf);
    free(buf);

    return token;
}


/* a member of the object that a text is, or NGX_DECLINED */

static ngx_int_t
fuzz_member(ngx_str_t *json, const char *name,
    ngx_queues_base_json_value_t *value)
{
    ngx_str_t                      key, wanted;
    const char                    *error;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   object;

    if (ngx_queues_base_json_parse(json, &object, &error) != NGX_OK
        || object.type != NGX_QUEUES_BASE_JSON_OBJECT)
    {
        return NGX_DECLINED;
    }

    wanted.data = (u_char *) name;
    wanted.len = strlen(name);

    ngx_queues_base_json_open(&it, &object);

    while (ngx_queues_base_json_next(&it, &key, value) == NGX_OK) {
        if (ngx_queues_base_json_equal(&key, &wanted)) {
            return NGX_OK;
        }
    }

    return NGX_DECLINED;
}


static ngx_uint_t
fuzz_is(ngx_queues_base_json_value_t *value, const char *text)
{
    ngx_str_t  raw;

    raw.data = (u_char *) text;
    raw.len = strlen(text);

    return value->type == NGX_QUEUES_BASE_JSON_STRING
           && ngx_queues_base_json_equal(&value->raw, &raw);
}


static ngx_uint_t
fuzz_within(ngx_str_t *text, u_char *room, size_t size)
{
    return text->data >= room && text->data + text->len <= room + size;
}


static void
fuzz_grants(ngx_queues_base_jwt_claims_t *claims, u_char *room, size_t size)
{
    ngx_str_t                      text;
    ngx_uint_t                     i;
    ngx_queues_base_keys_grant_t  *grant, again;

    fuzz_assert(claims->ngrants <= NGX_QUEUES_BASE_JWT_GRANTS);

    for (i = 0; i < claims->ngrants; i++) {
        grant = &claims->grants[i];

        /* the role, PERMISSIONS@RESOURCES, stands there as one */

        text.data = grant->permissions.data;
        text.len = grant->permissions.len + 1 + grant->resources.len;

        fuzz_assert(fuzz_within(&text, room, size));
        fuzz_assert(ngx_queues_base_keys_grant(&text, &again) == NGX_OK);
        fuzz_assert(fuzz_same(&again.permissions, &grant->permissions)
                    && again.resources.data == grant->resources.data
                    && fuzz_same(&again.resources, &grant->resources));
    }
}


/* payload: NULL where it is not known */

static ngx_int_t
fuzz_verify(ngx_queues_base_jwt_rules_t *rules, ngx_str_t *token, int64_t now,
    ngx_str_t *payload, ngx_queues_base_jwt_claims_t *claims,
    const char **error)
{
    size_t                         size;
    u_char                        *room, *sub;
    ngx_int_t                      rc;
    ngx_str_t                      subject;
    ngx_queues_base_json_value_t   value;

    size = ngx_queues_base_jwt_room(token->len);
    room = fuzz_alloc(size);

    *error = NULL;

    rc = ngx_queues_base_jwt_verify(fuzz_keys, rules, token, now, room, claims,
                                    error);

    if (rc != NGX_OK) {
        fuzz_assert(rc == NGX_ERROR && *error
                    && (strncmp(*error, "has ", 4) == 0
                        || strncmp(*error, "is ", 3) == 0
                        || strncmp(*error, "fits ", 5) == 0));
        free(room);
        return rc;
    }

    fuzz_assert(claims->starts <= now && now < claims->ends);
    fuzz_assert(claims->subject.len >= 1 && claims->subject.len <= 255
                && fuzz_within(&claims->subject, room, size));

    fuzz_grants(claims, room, size);

    if (payload) {
        fuzz_assert(fuzz_member(payload, "sub", &value) == NGX_OK
                    && value.type == NGX_QUEUES_BASE_JSON_STRING);

        sub = fuzz_alloc(value.raw.len);
        subject.data = sub;
        subject.len = ngx_queues_base_json_decode(sub, &value.raw) - sub;

        fuzz_assert(fuzz_same(&subject, &claims->subject));
        free(sub);

        fuzz_assert(fuzz_member(payload, "exp", &value) == NGX_OK);

        if (rules->issuer.len) {
            fuzz_assert(fuzz_member(payload, "iss", &value) == NGX_OK
                        && fuzz_is(&value, (char *) rules->issuer.data));
        }

        fuzz_assert((fuzz_member(payload, "aud", &value) == NGX_OK)
                    == (rules->audience.len != 0));
    }

    free(room);

    return rc;
}


/* as long as it says, to the second */

static void
fuzz_times(ngx_queues_base_jwt_rules_t *rules, ngx_str_t *token,
    ngx_str_t *payload, ngx_queues_base_jwt_claims_t *claims)
{
    const char                    *error;
    ngx_queues_base_jwt_claims_t   other;

    fuzz_assert(fuzz_verify(rules, token, claims->starts, payload, &other,
                            &error)
                == NGX_OK);
    fuzz_assert(other.starts == claims->starts && other.ends == claims->ends
                && other.ngrants == claims->ngrants);

    fuzz_assert(fuzz_verify(rules, token, claims->starts - 1, payload, &other,
                            &error)
                == NGX_ERROR);

    fuzz_assert(fuzz_verify(rules, token, claims->ends - 1, payload, &other,
                            &error)
                == NGX_OK);
    fuzz_assert(fuzz_verify(rules, token, claims->ends, payload, &other,
                            &error)
                == NGX_ERROR);
    fuzz_assert(strcmp(error, "has expired") == 0);
}


/* another character somewhere, in the signature at least */

static void
fuzz_changes(ngx_queues_base_jwt_rules_t *rules, ngx_str_t *token)
{
    size_t                         i, pos;
    uint32_t                       seed;
    ngx_str_t                      other;
    const char                    *error;
    ngx_queues_base_jwt_claims_t   claims;

    static const char  digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

    for (seed = 0, i = 0; i < token->len; i++) {
        seed = seed * 31 + token->data[i];
    }

    for (i = 0; i < FUZZ_CHANGES; i++) {
        seed = seed * 1103515245 + 12345;

        /* the last part has at least 43 characters */

        pos = (i == 0) ? token->len - 1 - (seed >> 8) % 43
                       : (seed >> 8) % token->len;

        other = fuzz_copy(token->data, token->len);

        do {
            other.data[pos] = digits[(seed++ >> 16) % (sizeof(digits) - 1)];
            seed = seed * 1103515245 + 12345;
        } while (other.data[pos] == token->data[pos]);

        fuzz_assert(fuzz_verify(rules, &other, FUZZ_NOW, NULL, &claims, &error)
                    == NGX_ERROR);
        free(other.data);
    }

    other = fuzz_copy(token->data, seed % token->len);
    fuzz_assert(fuzz_verify(rules, &other, FUZZ_NOW, NULL, &claims, &error)
                == NGX_ERROR);
    free(other.data);
}


static void
fuzz_signed(fuzz_key_t *key, ngx_queues_base_jwt_rules_t *rules,
    ngx_str_t *header, ngx_str_t *payload)
{
    ngx_int_t                      rc;
    ngx_str_t                      token;
    ngx_uint_t                     right;
    const char                    *error;
    ngx_queues_base_json_value_t   value;
    ngx_queues_base_jwt_claims_t   claims;

    token = fuzz_token(key, header, payload);

    rc = fuzz_verify(rules, &token, FUZZ_NOW, payload, &claims, &error);

    right = fuzz_member(header, "alg", &value) == NGX_OK
            && fuzz_is(&value, key->alg) && key->letter != 'o';

    if (rc == NGX_OK) {
        fuzz_assert(right && token.len <= NGX_QUEUES_BASE_JWT_MAX);

        fuzz_times(rules, &token, payload, &claims);
        fuzz_changes(rules, &token);

    } else if (right && fuzz_member(header, "kid", &value) != NGX_OK) {
        fuzz_assert(strstr(error, "signature") == NULL);
    }

    free(token.data);
}


/* what comes as a whole is good only with a secret that its writer knew */

static void
fuzz_whole(ngx_queues_base_jwt_rules_t *rules, ngx_str_t *bytes)
{
    u_char                         mac[FUZZ_SIGNATURE];
    u_char                         sealed[FUZZ_SIGNATURE];
    u_char                        *dot;
    size_t                         len;
    ngx_str_t                      token, text, signature;
    fuzz_key_t                    *key;
    const char                    *error;
    ngx_queues_base_jwt_claims_t   claims;

    token = fuzz_copy(bytes->data, bytes->len);

    if (fuzz_verify(rules, &token, FUZZ_NOW, NULL, &claims, &error)
        == NGX_OK)
    {
        dot = memrchr(token.data, '.', token.len);
        fuzz_assert(dot);

        text.data = token.data;
        text.len = dot - token.data;

        signature.data = dot + 1;
        signature.len = token.len - text.len - 1;

        fuzz_assert(signature.len <= 86
                    && ngx_queues_base_base64url_parse(&signature, sealed, &len)
                       == NGX_OK);

        for (key = fuzz_signers; key->letter; key++) {
            if (key->secret
                && fuzz_sign(key, &text, mac) == len
                && memcmp(mac, sealed, len) == 0)
            {
                break;
            }
        }

        fuzz_assert(key->letter && key->letter != 'o');

        fuzz_times(rules, &token, NULL, &claims);
        fuzz_changes(rules, &token);
    }

    free(token.data);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t                     rest, line, header;
    fuzz_key_t                   *key;
    ngx_queues_base_jwt_rules_t  *rules;

    if (fuzz_keys == NULL) {
        fuzz_init();
    }

    rest.data = (u_char *) data;
    rest.len = size;

    line = fuzz_take(&rest, '\n');

    if (line.len == 2 && line.data[1] >= '0' && line.data[1] <= '6') {
        rules = &fuzz_rules[line.data[1] - '0'];

        if (line.data[0] == '-') {
            fuzz_whole(rules, &rest);
        }

        for (key = fuzz_signers; key->letter; key++) {
            if (key->letter == line.data[0]) {
                header = fuzz_take(&rest, '\n');
                fuzz_signed(key, rules, &header, &rest);
                free(header.data);
                break;
            }
        }
    }

    free(line.data);

    return 0;
}
