
#include "unit.h"
#include "ngx_queues_base_jwt.h"
#include "ngx_queues_base_text.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>


#define NOW      1700000000
#define SECRET   "0123456789abcdef0123456789abcdef"
#define HS       "{\"alg\":\"HS256\"}"
#define SUB      "\"sub\":\"me\""
#define ONLY     "\"exp\":1700000100"
#define EXP      SUB "," ONLY

/*
 * RFC 7515, A.1 to A.3: {"iss":"joe", "exp":1300819380, ...}, of which the
 * signature and the times are looked at before the lack of a "sub"
 */

#define RFC_PAYLOAD                                                           \
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt"        \
    "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

#define RFC_N                                                                 \
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-"       \
    "Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6"      \
    "b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-"      \
    "KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5"     \
    "IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54"     \
    "h4FRWyuXpoQ"

#define RFC_X    "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define RFC_Y    "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
#define RFC_K    "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aK"    \
                 "tMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"
#define RFC_ED   "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"

#define RFC_RSA_KEY  "{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"AQAB\"}"
#define RFC_EC_KEY   "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X       \
                     "\",\"y\":\"" RFC_Y "\"}"
#define RFC_OCT_KEY  "{\"kty\":\"oct\",\"k\":\"" RFC_K "\"}"
#define RFC_ED_KEY   "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"" RFC_ED   \
                     "\"}"


typedef struct {
    const char  *header;
    const char  *payload;
    const char  *expected;     /* in an error; NULL: the token is good */
} unit_token_t;


typedef struct {
    const char  *text;
    ngx_uint_t   number;
    const char  *expected;
} unit_keys_t;


static unit_token_t  unit_tokens[] = {
    { HS, "{" EXP "}", NULL },
    { "{ \"typ\" : \"JWT\" , \"alg\" : \"HS256\" }", " { " EXP " } ", NULL },
    { "{\"\\u0061lg\":\"\\u0048S256\"}",
      "{" SUB ",\"\\u0065xp\":1700000100}", NULL },
    { "{\"alg\":\"HS256\",\"kid\":\"any\"}", "{" EXP "}", NULL },
    { "{\"alg\":\"HS256\",\"jku\":\"http://x\",\"jwk\":{}}", "{" EXP "}",
      NULL },

    { "", "{" EXP "}", "a header that is not" },
    { "{}", "{" EXP "}", "no \"alg\"" },
    { "[]", "{" EXP "}", "a header that is not" },
    { "\"alg\"", "{" EXP "}", "a header that is not" },
    { "{\"alg\":\"HS256\"", "{" EXP "}", "a header that is not" },
    { "{\"alg\":\"HS256\"} {}", "{" EXP "}", "a header that is not" },
    { "{\"alg\":\"HS256\",}", "{" EXP "}", "a header that is not" },
    { "{\"alg\":\"none\"}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":\"None\"}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":\"\"}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":\"hs256\"}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":\"HS2566\"}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":\"PS256\"}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":[\"HS256\"]}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":null}", "{" EXP "}", "no \"alg\"" },
    { "{\"alg\":\"RS256\"}", "{" EXP "}", "its key is not for" },
    { "{\"alg\":\"ES256\"}", "{" EXP "}", "its key is not for" },
    { "{\"alg\":\"EdDSA\"}", "{" EXP "}", "its key is not for" },
    { "{\"alg\":\"HS384\"}", "{" EXP "}", "a bad signature" },
    { "{\"alg\":\"HS256\",\"alg\":\"HS256\"}", "{" EXP "}", "a member twice" },
    { "{\"alg\":\"HS256\",\"\\u0061lg\":1}", "{" EXP "}", "a member twice" },
    { "{\"alg\":\"HS256\",\"x\":1,\"x\":1}", "{" EXP "}", "a member twice" },
    { "{\"alg\":\"HS256\",\"crit\":[\"b64\"],\"b64\":false}", "{" EXP "}",
      "critical" },
    { "{\"alg\":\"HS256\",\"crit\":null}", "{" EXP "}", "critical" },
    { "{\"alg\":\"HS256\",\"kid\":1}", "{" EXP "}", "not a string" },
    { "{\"alg\":\"HS256\",\"kid\":null}", "{" EXP "}", "not a string" },

    { HS, "", "a payload that is not" },
    { HS, "[]", "a payload that is not" },
    { HS, "{" EXP "} x", "a payload that is not" },
    { HS, "{" EXP ",\"a\":\"\xff\"}", "a payload that is not" },
    { HS, "{" EXP "," EXP "}", "a member twice" },
    { HS, "{" ONLY ",\"s\\u0075b\":\"a\",\"sub\":\"b\"}", "a member twice" },
    { HS, "{}", "no \"exp\"" },
    { HS, "{\"exp\":null}", "no time" },
    { HS, "{\"exp\":\"1700000100\"}", "no time" },
    { HS, "{\"exp\":-1}", "no time" },
    { HS, "{\"exp\":17e8}", "no time" },
    { HS, "{\"exp\":1.8e9}", "no time" },
    { HS, "{\"exp\":99999999999999999999999999999999}", "no time" },
    { HS, "{\"exp\":253402300800}", "no time" },
    { HS, "{" SUB ",\"exp\":253402300799}", NULL },
    { HS, "{\"exp\":0}", "has expired" },
    { HS, "{\"exp\":1699999990}", "has expired" },
    { HS, "{\"exp\":1699999990.000}", "has expired" },
    { HS, "{" SUB ",\"exp\":1699999990.0001}", NULL },
    { HS, "{" SUB ",\"exp\":1699999991}", NULL },
    { HS, "{" EXP ",\"nbf\":1700000010}", NULL },
    { HS, "{" EXP ",\"nbf\":1700000010.5}", "not valid yet" },
    { HS, "{" EXP ",\"nbf\":1700000011}", "not valid yet" },
    { HS, "{" EXP ",\"nbf\":\"0\"}", "no time" },
    { HS, "{" EXP ",\"iat\":1700000010}", NULL },
    { HS, "{" EXP ",\"iat\":1700000011}", "from the future" },
    { HS, "{" EXP ",\"iat\":true}", "no time" },
    { HS, "{" EXP ",\"iat\":{}}", "no time" },
    { HS, "{" EXP ",\"aud\":\"us\"}", "no queues_jwt_audience" },
    { HS, "{" EXP ",\"aud\":[]}", "no queues_jwt_audience" },
    { HS, "{" EXP ",\"aud\":null}", "no queues_jwt_audience" },
    { HS, "{" EXP ",\"iss\":1}", NULL },
    { HS, "{" ONLY "}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":\"\"}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":1}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":null}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":\"a\\u0000b\"}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":\"a\\n\"}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":\"\\u007f\"}", "no \"sub\"" },
    { HS, "{" ONLY ",\"sub\":\"a b\\u00e9\"}", NULL },
};


static unit_token_t  unit_parties[] = {
    { HS, "{" EXP ",\"iss\":\"https://i\",\"aud\":\"a\\\"us\"}", NULL },
    { HS, "{" EXP ",\"iss\":\"https:\\/\\/i\",\"aud\":[\"x\",\"a\\u0022us\"]}",
      NULL },
    { HS, "{" EXP ",\"aud\":\"a\\\"us\"}", "another \"iss\"" },
    { HS, "{" EXP ",\"iss\":\"https://i/\",\"aud\":\"a\\\"us\"}",
      "another \"iss\"" },
    { HS, "{" EXP ",\"iss\":[\"https://i\"],\"aud\":\"a\\\"us\"}",
      "another \"iss\"" },
    { HS, "{" EXP ",\"iss\":\"https://i\"}", "another \"aud\"" },
    { HS, "{" EXP ",\"iss\":\"https://i\",\"aud\":[]}", "another \"aud\"" },
    { HS, "{" EXP ",\"iss\":\"https://i\",\"aud\":[\"a\",null,1,{}]}",
      "another \"aud\"" },
    { HS, "{" EXP ",\"iss\":\"https://i\",\"aud\":{\"a\":\"a\\\"us\"}}",
      "another \"aud\"" },
    { HS, "{" EXP ",\"iss\":\"https://i\",\"aud\":[[\"a\\\"us\"]]}",
      "another \"aud\"" },
};


/* by loose rules: what of a token may be missing */

static unit_token_t  unit_loose[] = {
    { HS, "{}", "|loose" },
    { HS, "{\"sub\":null,\"exp\":1699999990}", "has expired" },
    { HS, "{\"exp\":null,\"sub\":\"a\"}", "no time" },
    { HS, "{\"sub\":\"\"}", "|loose" },
    { HS, "{\"sub\":\"a\"}", "a|loose" },
    { HS, "{" ONLY "}", "|loose" },
    { HS, "{" ONLY ",\"sub\":\"a\"}", "a" },
    { HS, "{\"sub\":1}", "no \"sub\"" },
    { HS, "{\"nbf\":1700000011}", "not valid yet" },
};


/* roles by "a.b": what becomes of them, a grant in brackets each */

static unit_token_t  unit_roles[] = {
    { HS, "{" EXP "}", "me" },
    { HS, "{" EXP ",\"a\":{\"b\":[\"p@o/*\",\"x\",1,null,[\"q@r\"]]}}",
      "me[p@o/*]" },
    { HS, "{" EXP ",\"a\":{\"b\":\" p@o  x q.*,r@a,b \"}}",
      "me[p@o][q.*,r@a,b]" },
    { HS, "{" EXP ",\"a\":{\"b\":[\"p@o\\/\\u002a\", \"p q@o\"]}}",
      "me[p@o/*]" },
    { HS, "{" EXP ",\"a\":{\"b\":\"p@o\\u0020q@r\"}}", "me[p@o][q@r]" },
    { HS, "{" EXP ",\"a.b\":[\"p@o\"],\"a\":{\"b\":[\"q@r\"]}}", "me[p@o]" },
    { HS, "{" EXP ",\"a.b\":1,\"a\":{\"b\":[\"q@r\"]}}", "me" },
    { HS, "{" EXP ",\"a\":[\"p@o\"]}", "me" },
    { HS, "{" EXP ",\"a\":{\"b\":{\"p@o\":\"p@o\"}}}", "me" },
    { HS, "{" EXP ",\"a\":{\"b\":[\"@o\",\"p@\",\"@\",\"p@@o\",\"p@o@q\","
      "\"p,@o\",\"p@,o\",\"p@o\\u0000\",\"p@\\ud800\",\"p@\xc3\xa4\"]}}",
      "me" },
    { HS, "{" EXP ",\"a\":{\"b\":[],\"\\u0062\":[]}}", "a member twice" },
    { HS, "{" EXP ",\"a\":{\"b\":[\"admin\",\"p@o\",\"read-only\"]}}",
      "me+5[p@o]" },
    { HS, "{" EXP ",\"a\":{\"b\":\"read-write x write-only\"}}", "me+10" },
    { HS, "{" EXP ",\"role\":\"read-\\u006fnly\"}", "me+4" },
    { HS, "{" EXP ",\"role\":\"read-only\",\"a\":{\"b\":[\"write-only\"]}}",
      "me+12" },
    { HS, "{" EXP ",\"role\":[\"admin\"],\"a\":{\"b\":[\"Admin\",\"admins\"]}}",
      "me" },
    { HS, "{" ONLY ",\"sub\":\"s\\u0075b\",\"a\":{\"b\":\"p@o\"}}",
      "sub[p@o]" },
};


static unit_keys_t  unit_keys[] = {
    { "", 0, "is empty" },
    { " \r\n\n", 0, "is empty" },
    { SECRET, 0, NULL },
    { SECRET "\n", 0, NULL },
    { SECRET "\r\n", 0, NULL },
    { "0123456789abcdef0123456789abcde\n", 0, "less than 32 bytes" },
    { SECRET "\n" SECRET "\n", 0, "not one line of text" },
    { SECRET "\t", 0, "not one line of text" },
    { SECRET "-----BEGIN nothing", 1, "is not PEM" },
    { "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", 1,
      "is not a public key" },
    { "-----BEGIN PUBLIC KEY-----\nAAAA\n", 1, "is not PEM" },
    { "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 1,
      "is a private key" },
    { "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", 1,
      "is a certificate" },
    { "{", 0, "is not JSON" },
    { "{}", 0, "is not a JWKS" },
    { "{\"keys\":{}}", 0, "is not a JWKS" },
    { "{\"keys\":[],\"keys\":[]}", 0, "a member twice" },
    { "{\"keys\":[]}", 0, "has no key" },
    { "{\"keys\":[1]}", 1, "is not an object" },
    { "{\"keys\":[{},{\"kty\":\"DSA\"},{\"kty\":\"EC\",\"crv\":\"P-384\"},"
      "{\"kty\":\"OKP\",\"crv\":\"X25519\"},"
      "{\"kty\":\"RSA\",\"use\":\"enc\"},{\"kty\":\"RSA\",\"use\":1},"
      "{\"kty\":\"RSA\",\"alg\":\"PS256\"},"
      "{\"kty\":\"RSA\",\"alg\":\"HS256\"},{\"kty\":\"RSA\",\"alg\":1},"
      "{\"kty\":\"RSA\",\"key_ops\":[\"sign\"]},"
      "{\"kty\":\"oct\",\"alg\":\"RS256\"}]}", 0, "has no key" },
    { "{\"keys\":[{},{\"kty\":\"RSA\"}]}", 2, "its \"kty\"" },
    { "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}", 1,
      "of less than 2048" },
    { "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" RFC_N "=\",\"e\":\"AQAB\"}]}", 1,
      "its \"kty\"" },
    { "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"Ag\"}]}", 1,
      "not a sound public key" },
    { "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"AQAB\","
      "\"d\":\"AQAB\"}]}", 1, "private part" },
    { "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X
      "\",\"y\":\"" RFC_X "\"}]}", 1, "its \"kty\"" },
    { "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X
      "\",\"y\":\"\"}]}", 1, "its \"kty\"" },
    { "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AQAB\"}]}", 1,
      "its \"kty\"" },
    { "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AQAB\"}]}", 1,
      "less than 32 bytes" },
    { "{\"keys\":[{\"kty\":\"oct\",\"k\":\"+" RFC_K "\"}]}", 1, "no \"k\"" },
    { "{\"keys\":[{\"kty\":\"oct\",\"kid\":1,\"k\":\"" RFC_K "\"}]}", 1,
      "not a string" },
    { "{\"keys\":[" RFC_OCT_KEY "," RFC_RSA_KEY "," RFC_EC_KEY "," RFC_ED_KEY
      ",{\"kty\":\"AKP\"}],\"x\":1}", 0, NULL },
    { "{\"keys\":[{\"kty\":\"oct\",\"use\":\"sig\",\"key_ops\":[\"sign\","
      "\"verify\"],\"alg\":\"HS512\",\"k\":\"" RFC_K "\"}]}", 0, NULL },
};


static const char  *unit_rfc[] = {
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." RFC_PAYLOAD
    ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",

    "eyJhbGciOiJSUzI1NiJ9." RFC_PAYLOAD
    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7"
    "AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4"
    "BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K"
    "0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqv"
    "hJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrB"
    "p0igcN_IoypGlUPQGe77Rw",

    "eyJhbGciOiJFUzI1NiJ9." RFC_PAYLOAD
    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSA"
    "pmWQxfKTUJqPP3-Kg6NU1Q"
};


static ngx_queues_base_jwt_rules_t  unit_rules = {
    ngx_null_string, ngx_null_string, ngx_string("a.b"), 10, 0
};


static ngx_str_t
unit_text(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static ngx_queues_base_jwt_keys_t *
unit_load(const char *text)
{
    ngx_str_t                    copy;
    ngx_uint_t                   number;
    const char                  *error;
    ngx_queues_base_jwt_keys_t  *keys;

    copy = unit_text(text);
    keys = ngx_queues_base_jwt_keys_create();

    if (ngx_queues_base_jwt_keys_add(keys, &copy, &error, &number) != NGX_OK) {
        unit_ok(0, error, &copy);
    }

    free(copy.data);

    return keys;
}


/* header and payload in base64url, and room for a signature behind them */

static ngx_str_t
unit_unsigned(const char *header, const char *payload)
{
    u_char     *p;
    ngx_str_t   token;

    token.data = malloc(2 * (strlen(header) + strlen(payload)) + 512);

    p = ngx_queues_base_base64url_print(token.data, (u_char *) header,
                                        strlen(header));
    *p++ = '.';
    p = ngx_queues_base_base64url_print(p, (u_char *) payload,
                                        strlen(payload));
    token.len = p - token.data;

    return token;
}


static void
unit_append(ngx_str_t *token, u_char *signature, size_t len)
{
    u_char  *p;

    p = token->data + token->len;
    *p++ = '.';
    p = ngx_queues_base_base64url_print(p, signature, len);
    token->len = p - token->data;
}


static ngx_str_t
unit_hs256(const char *header, const char *payload, const char *secret)
{
    u_char        mac[EVP_MAX_MD_SIZE];
    ngx_str_t     token;
    unsigned int  len;

    token = unit_unsigned(header, payload);

    HMAC(EVP_sha256(), secret, strlen(secret), token.data, token.len, mac,
         &len);
    unit_append(&token, mac, len);

    return token;
}


/* NULL for a good token; in memory of exactly the sizes that are promised */

static const char *
unit_verify(ngx_queues_base_jwt_keys_t *keys,
    ngx_queues_base_jwt_rules_t *rules, ngx_str_t *token, int64_t now,
    char *shown)
{
    u_char                        *room;
    ngx_int_t                      rc;
    ngx_str_t                      copy;
    ngx_uint_t                     i;
    const char                    *error;
    ngx_queues_base_jwt_claims_t   claims;

    copy = unit_copy(token);
    room = malloc(ngx_queues_base_jwt_room(token->len));
    error = NULL;

    rc = ngx_queues_base_jwt_verify(keys, rules, &copy, now, room, &claims,
                                    &error);

    if (rc == NGX_OK) {
        error = NULL;

    } else if (error == NULL) {
        error = "refused without a reason";
    }

    if (rc == NGX_OK && shown) {
        shown += sprintf(shown, "%.*s", (int) claims.subject.len,
                         (char *) claims.subject.data);

        if (!claims.strict) {
            shown += sprintf(shown, "|loose");
        }

        if (claims.words) {
            shown += sprintf(shown, "+%d", (int) claims.words);
        }

        for (i = 0; i < claims.ngrants; i++) {
            shown += sprintf(shown, "[%.*s@%.*s]",
                             (int) claims.grants[i].permissions.len,
                             (char *) claims.grants[i].permissions.data,
                             (int) claims.grants[i].resources.len,
                             (char *) claims.grants[i].resources.data);
        }
    }

    free(copy.data);
    free(room);

    return error;
}


static void
unit_expect(const char *error, const char *expected, ngx_str_t *name)
{
    ngx_uint_t  ok;

    ok = expected ? (error && strstr(error, expected)) : (error == NULL);

    if (!ok) {
        printf("# %s\n", error ? error : "accepted");
    }

    unit_ok(ok, expected ? expected : "good", name);
}


static void
unit_table(unit_token_t *tokens, ngx_uint_t n,
    ngx_queues_base_jwt_rules_t *rules)
{
    ngx_str_t                    token, name;
    ngx_uint_t                   i;
    ngx_queues_base_jwt_keys_t  *keys;

    keys = unit_load(SECRET);

    for (i = 0; i < n; i++) {
        token = unit_hs256(tokens[i].header, tokens[i].payload, SECRET);

        name.data = (u_char *) tokens[i].payload;
        name.len = strlen(tokens[i].payload);

        unit_expect(unit_verify(keys, rules, &token, NOW, NULL),
                    tokens[i].expected, &name);

        free(token.data);
    }

    ngx_queues_base_jwt_keys_destroy(keys);
}


/* what becomes of tokens, or why they are refused */

static void
unit_shown(ngx_queues_base_jwt_keys_t *keys, unit_token_t *tokens,
    ngx_uint_t n, ngx_queues_base_jwt_rules_t *rules)
{
    char         shown[4096];
    ngx_str_t    token, name;
    ngx_uint_t   i;
    const char  *error;

    for (i = 0; i < n; i++) {
        token = unit_hs256(tokens[i].header, tokens[i].payload, SECRET);
        error = unit_verify(keys, rules, &token, NOW, shown);

        name.data = (u_char *) tokens[i].payload;
        name.len = strlen(tokens[i].payload);

        unit_ok(error ? strstr(error, tokens[i].expected) != NULL
                      : strcmp(shown, tokens[i].expected) == 0,
                "shown", &name);

        free(token.data);
    }
}


static void
unit_test_roles(void)
{
    char                         shown[4096];
    ngx_str_t                    token;
    ngx_queues_base_jwt_keys_t  *keys;
    ngx_queues_base_jwt_rules_t  rules;

    keys = unit_load(SECRET);

    unit_shown(keys, unit_roles, UNIT_ROWS(unit_roles), &unit_rules);

    rules = unit_rules;
    rules.loose = 1;

    unit_shown(keys, unit_loose, UNIT_ROWS(unit_loose), &rules);

    /* one claim for both takes its room twice */

    rules = unit_rules;
    ngx_str_set(&rules.roles, "sub");

    token = unit_hs256(HS, "{" ONLY ",\"sub\":\""
                       "p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p"
                       "p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p"
                       "p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p"
                       "p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p.p@o"
                       "\"}", SECRET);
    unit_ok(unit_verify(keys, &rules, &token, NOW, shown) == NULL
            && strstr(shown, "p@o[p.") != NULL,
            "a subject that is a role as well", NULL);
    free(token.data);

    ngx_queues_base_jwt_keys_destroy(keys);
}


/* as many grants, members and bytes as there may be, and one more */

static void
unit_test_bounds(void)
{
    char                        *p, payload[8192], shown[4096];
    ngx_str_t                    token;
    ngx_uint_t                   i, n;
    ngx_queues_base_jwt_keys_t  *keys;

    keys = unit_load(SECRET);

    for (n = 64; n <= 65; n++) {
        p = payload + sprintf(payload, "{" EXP ",\"a\":{\"b\":[\"x\"");

        for (i = 0; i < n; i++) {
            p += sprintf(p, ",\"p%d@o\"", (int) i);
        }

        strcpy(p, "]}}");

        token = unit_hs256(HS, payload, SECRET);
        unit_expect(unit_verify(keys, &unit_rules, &token, NOW, shown),
                    n == 64 ? NULL : "more than 64 roles", NULL);
        free(token.data);
    }

    for (n = 128; n <= 129; n++) {
        p = payload + sprintf(payload, "{" EXP);

        for (i = 2; i < n; i++) {
            p += sprintf(p, ",\"%d\":1", (int) i);
        }

        strcpy(p, "}");

        token = unit_hs256(HS, payload, SECRET);
        unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                    n == 128 ? NULL : "more than 128 members", NULL);
        free(token.data);
    }

    /* 20 of the header, 43 of the signature, two dots */

    for (n = 0; n <= 1; n++) {
        p = payload + sprintf(payload, "{" EXP ",\"x\":\"");

        while (p - payload < (ngx_int_t) (6093 + n)) {
            *p++ = 'x';
        }

        strcpy(p, "\"}");

        token = unit_hs256(HS, payload, SECRET);
        unit_ok(token.len == 8192 + n, "so long", NULL);
        unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                    n == 0 ? NULL : "longer than 8 KiB", NULL);
        free(token.data);
    }

    ngx_queues_base_jwt_keys_destroy(keys);
}


static void
unit_test_forms(void)
{
    char                         text[512];
    ngx_str_t                    token, other;
    ngx_uint_t                   i, wrong;
    ngx_queues_base_jwt_keys_t  *keys;

    static const char  *forms[] = {
        "", ".", "..", "...", "a", "a.b", "a.b.c", "a.b.c.d", "....",
        "eyJhbGciOiJIUzI1NiJ9..", "eyJhbGciOiJub25lIn0.e30.",
        "eyJhbGciOiJIUzI1NiJ9.e30", "eyJhbGciOiJIUzI1NiJ9.e30.",
        "eyJhbGciOiJIUzI1NiJ9.e30.AAAA"
    };

    keys = unit_load(SECRET);

    for (i = 0; i < UNIT_ROWS(forms); i++) {
        token = unit_text(forms[i]);
        unit_ok(unit_verify(keys, &unit_rules, &token, NOW, NULL) != NULL,
                "no token", &token);
        free(token.data);
    }

    token = unit_hs256(HS, "{" ONLY ",\"sub\":\"me\"}", SECRET);
    sprintf(text, "%.*s", (int) token.len, (char *) token.data);

    /* other texts of the same bytes */

    for (i = 0; i < 5; i++) {
        char  more[600];

        sprintf(more, "%s%s%s", i == 3 ? " " : "", text,
                i == 0 ? "=" : i == 1 ? " " : i == 2 ? "\n"
                       : i == 4 ? "." : "");
        other = unit_text(more);
        unit_ok(unit_verify(keys, &unit_rules, &other, NOW, NULL) != NULL,
                "another text of the same token", &other);
        free(other.data);
    }

    /* every end and every other bit */

    for (i = 0, wrong = 0; i < token.len; i++) {
        other = token;
        other.len = i;
        wrong += (unit_verify(keys, &unit_rules, &other, NOW, NULL) == NULL);
    }

    unit_ok(wrong == 0, "no beginning of a token is one", NULL);

    for (i = 0, wrong = 0; i < 8 * token.len; i++) {
        token.data[i / 8] ^= 1 << i % 8;
        wrong += (unit_verify(keys, &unit_rules, &token, NOW, NULL) == NULL);
        token.data[i / 8] ^= 1 << i % 8;
    }

    unit_ok(wrong == 0, "no bit may differ", NULL);
    unit_ok(unit_verify(keys, &unit_rules, &token, NOW, NULL) == NULL,
            "and as it was it is good", NULL);

    free(token.data);
    ngx_queues_base_jwt_keys_destroy(keys);
}


static void
unit_test_keys(void)
{
    char                         text[200];
    ngx_int_t                    rc;
    ngx_str_t                    copy, token;
    ngx_uint_t                   i, number;
    const char                  *error;
    ngx_queues_base_jwt_keys_t  *keys;

    for (i = 0; i < UNIT_ROWS(unit_keys); i++) {
        copy = unit_text(unit_keys[i].text);
        keys = ngx_queues_base_jwt_keys_create();
        error = NULL;

        rc = ngx_queues_base_jwt_keys_add(keys, &copy, &error, &number);

        unit_expect(rc == NGX_OK ? NULL : error, unit_keys[i].expected, &copy);
        unit_ok(number == unit_keys[i].number, "the key that is meant", NULL);

        /* a file that is refused leaves nothing that verifies anything */

        if (rc != NGX_OK) {
            token = unit_hs256(HS, "{" EXP "}", "");
            unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                        "not for", NULL);
            free(token.data);
        }

        ngx_queues_base_jwt_keys_destroy(keys);
        free(copy.data);
    }

    keys = ngx_queues_base_jwt_keys_create();

    for (i = 0; i < 65; i++) {
        sprintf(text, SECRET "%d", (int) i);
        copy = unit_text(text);
        rc = ngx_queues_base_jwt_keys_add(keys, &copy, &error, &number);
        free(copy.data);

        if (rc != NGX_OK) {
            break;
        }
    }

    unit_ok(i == 64, "64 keys", NULL);
    unit_expect(error, "one too many", NULL);

    copy = unit_hs256(HS, "{" EXP "}", SECRET "63");
    unit_expect(unit_verify(keys, &unit_rules, &copy, NOW, NULL),
                "too many keys", NULL);
    free(copy.data);

    ngx_queues_base_jwt_keys_destroy(keys);
}


/* keys by their names, and by what they are for */

static void
unit_test_kid(void)
{
    ngx_str_t                    token;
    ngx_uint_t                   i, number;
    const char                  *error;
    ngx_queues_base_jwt_keys_t  *keys;

    static struct {
        const char  *header;
        const char  *secret;
        const char  *expected;
    } rows[] = {
        { HS, "a" SECRET, NULL },
        { HS, "b" SECRET, NULL },
        { HS, "c" SECRET, "bad signature" },
        { "{\"alg\":\"HS256\",\"kid\":\"a\"}", "a" SECRET, NULL },
        { "{\"alg\":\"HS256\",\"kid\":\"\\u0061\"}", "a" SECRET, NULL },
        { "{\"alg\":\"HS256\",\"kid\":\"b\"}", "b" SECRET, NULL },
        { "{\"alg\":\"HS256\",\"kid\":\"\"}", "b" SECRET, NULL },
        { "{\"alg\":\"HS256\",\"kid\":\"\"}", "a" SECRET, "bad signature" },
        { "{\"alg\":\"HS256\",\"kid\":\"b\"}", "a" SECRET, "bad signature" },
        { "{\"alg\":\"HS256\",\"kid\":\"A\"}", "a" SECRET, "unknown \"kid\"" },
        { "{\"alg\":\"HS256\",\"kid\":\"c\"}", "c" SECRET, "not for" },
        { "{\"alg\":\"RS256\",\"kid\":\"a\"}", "a" SECRET, "not for" },
    };

    /* base64url of "a0123..." and so on; c is for HS512 only */

    keys = unit_load(
        "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":"
        "\"YTAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm\"},"
        "{\"kty\":\"oct\",\"kid\":\"b\",\"k\":"
        "\"YjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm\"},"
        "{\"kty\":\"oct\",\"kid\":\"\",\"k\":"
        "\"YjAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm\"},"
        "{\"kty\":\"oct\",\"kid\":\"c\",\"alg\":\"HS512\",\"k\":"
        "\"YzAxMjM0NTY3ODlhYmNkZWYwMTIzNDU2Nzg5YWJjZGVm\"}]}");

    for (i = 0; i < UNIT_ROWS(rows); i++) {
        token = unit_hs256(rows[i].header, "{" EXP "}", rows[i].secret);
        unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                    rows[i].expected, NULL);
        free(token.data);
    }

    /* with a key that has no name: for names that nobody has */

    token = unit_text(SECRET);
    (void) ngx_queues_base_jwt_keys_add(keys, &token, &error, &number);
    free(token.data);

    token = unit_hs256("{\"alg\":\"HS256\",\"kid\":\"z\"}", "{" EXP "}",
                       SECRET);
    unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL), NULL, NULL);
    free(token.data);

    token = unit_hs256("{\"alg\":\"HS256\",\"kid\":\"a\"}", "{" EXP "}",
                       SECRET);
    unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                "bad signature", NULL);
    free(token.data);

    ngx_queues_base_jwt_keys_destroy(keys);
}


static void
unit_test_rfc(void)
{
    ngx_str_t                    token;
    ngx_uint_t                   i, k;
    ngx_queues_base_jwt_keys_t  *keys;

    static const char  *sets[] = {
        "{\"keys\":[" RFC_OCT_KEY "]}", "{\"keys\":[" RFC_RSA_KEY "]}",
        "{\"keys\":[" RFC_EC_KEY "]}", "{\"keys\":[" RFC_ED_KEY "]}"
    };

    for (i = 0; i < UNIT_ROWS(unit_rfc); i++) {
        token = unit_text(unit_rfc[i]);

        for (k = 0; k < UNIT_ROWS(sets); k++) {
            keys = unit_load(sets[k]);

            unit_expect(unit_verify(keys, &unit_rules, &token, 1300819379,
                                    NULL),
                        i == k ? "no \"sub\"" : "its key is not for", &token);
            ngx_queues_base_jwt_keys_destroy(keys);
        }

        keys = unit_load(sets[i]);

        unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                    "has expired", &token);

        token.data[token.len - 10] ^= 1;
        unit_expect(unit_verify(keys, &unit_rules, &token, 1300819379, NULL),
                    "a bad signature", &token);

        ngx_queues_base_jwt_keys_destroy(keys);
        free(token.data);
    }
}


static ngx_queues_base_jwt_keys_t *
unit_public(EVP_PKEY *pkey, ngx_str_t *pem)
{
    BIO                         *bio;
    ngx_uint_t                   number;
    const char                  *error;
    ngx_queues_base_jwt_keys_t  *keys;

    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PUBKEY(bio, pkey);
    pem->len = BIO_get_mem_data(bio, (char **) &pem->data);
    *pem = unit_copy(pem);
    BIO_free(bio);

    keys = ngx_queues_base_jwt_keys_create();

    if (ngx_queues_base_jwt_keys_add(keys, pem, &error, &number) != NGX_OK) {
        unit_ok(0, error, NULL);
    }

    return keys;
}


/*
 * Signatures of ES256 whose numbers begin with zeros or with a high bit; and
 * the text of the public key as a secret.
 */

static void
unit_test_ec(void)
{
    char                         payload[100], *secret;
    u_char                       der[80], raw[64];
    size_t                       len;
    ngx_str_t                    token, pem;
    ngx_uint_t                   i, wrong, zeros;
    EVP_PKEY                    *pkey;
    ECDSA_SIG                   *sig;
    EVP_MD_CTX                  *ctx;
    const u_char                *p;
    ngx_queues_base_jwt_keys_t  *keys;

    pkey = EVP_EC_gen("P-256");
    keys = unit_public(pkey, &pem);
    wrong = 0;
    zeros = 0;

    for (i = 0; i < 1000; i++) {
        sprintf(payload, "{" EXP ",\"jti\":\"%d\"}", (int) i);
        token = unit_unsigned("{\"alg\":\"ES256\"}", payload);

        ctx = EVP_MD_CTX_new();
        len = sizeof(der);
        EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, pkey);
        EVP_DigestSign(ctx, der, &len, token.data, token.len);
        EVP_MD_CTX_free(ctx);

        p = der;
        sig = d2i_ECDSA_SIG(NULL, &p, len);
        BN_bn2binpad(ECDSA_SIG_get0_r(sig), raw, 32);
        BN_bn2binpad(ECDSA_SIG_get0_s(sig), raw + 32, 32);
        ECDSA_SIG_free(sig);

        zeros += (raw[0] == 0 || raw[32] == 0);

        unit_append(&token, raw, 64);
        wrong += (unit_verify(keys, &unit_rules, &token, NOW, NULL) != NULL);
        free(token.data);

        if (i == 0) {
            token = unit_unsigned("{\"alg\":\"ES256\"}", payload);
            unit_append(&token, der, len);
            unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                        "bad signature", &token);
            free(token.data);
        }
    }

    unit_ok(wrong == 0, "all signatures of ES256 are good", NULL);
    unit_ok(zeros > 0, "some of which begin with a zero", NULL);

    memset(raw, 0, sizeof(raw));

    token = unit_unsigned("{\"alg\":\"ES256\"}", "{" EXP "}");
    unit_append(&token, raw, 64);
    unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                "bad signature", &token);
    free(token.data);

    secret = malloc(pem.len + 1);
    memcpy(secret, pem.data, pem.len);
    secret[pem.len] = '\0';

    token = unit_hs256(HS, "{" EXP "}", secret);
    unit_expect(unit_verify(keys, &unit_rules, &token, NOW, NULL),
                "its key is not for", &token);
    free(token.data);

    free(secret);
    free(pem.data);
    EVP_PKEY_free(pkey);
    ngx_queues_base_jwt_keys_destroy(keys);
}


int
main(void)
{
    ngx_queues_base_jwt_rules_t  rules;

    rules = unit_rules;
    ngx_str_set(&rules.issuer, "https://i");
    ngx_str_set(&rules.audience, "a\\\"us");

    unit_table(unit_tokens, UNIT_ROWS(unit_tokens), &unit_rules);
    unit_table(unit_parties, UNIT_ROWS(unit_parties), &rules);

    unit_test_roles();
    unit_test_bounds();
    unit_test_forms();
    unit_test_keys();
    unit_test_kid();
    unit_test_rfc();
    unit_test_ec();

    return unit_done();
}
