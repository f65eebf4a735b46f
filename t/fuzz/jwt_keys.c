
/*
 * Files of token keys, one after another with a record separator (1e) between
 * them: of each file all keys count or none, they are sound and of their kind,
 * and a secret verifies what was signed with it.
 */

#include "fuzz.h"
#include "ngx_queues_base_jwt_parts.h"
#include "ngx_queues_base_text.h"

#include <openssl/hmac.h>


#define FUZZ_NOW  1700000000


static void
fuzz_key(ngx_queues_base_jwt_key_t *key)
{
    u_char                        *p;
    ngx_str_t                      json;
    const char                    *error;
    ngx_queues_base_json_value_t   value;

    fuzz_assert(key->kind <= NGX_QUEUES_BASE_JWT_ED);
    fuzz_assert(key->alg == NULL || key->alg->kind == key->kind);

    if (key->kind == NGX_QUEUES_BASE_JWT_HMAC) {
        fuzz_assert(key->pkey == NULL && key->secret.data
                    && key->secret.len >= NGX_QUEUES_BASE_JWT_SECRET_MIN);

    } else {
        fuzz_assert(key->pkey && key->secret.data == NULL);
    }

    if (key->kid.data == NULL) {
        fuzz_assert(key->kid.len == 0);
        return;
    }

    /* the content of a JSON string */

    json.len = key->kid.len + 2;
    json.data = fuzz_alloc(json.len);

    p = json.data;
    *p++ = '"';
    p = ngx_cpymem(p, key->kid.data, key->kid.len);
    *p++ = '"';

    fuzz_assert(ngx_queues_base_json_parse(&json, &value, &error) == NGX_OK
                && fuzz_same(&value.raw, &key->kid));

    free(json.data);
}


/* a token for the only key there is, by its secret */

static void
fuzz_use(ngx_queues_base_jwt_keys_t *keys)
{
    u_char                        *p, *buf, *token, *room;
    u_char                         mac[EVP_MAX_MD_SIZE];
    ngx_str_t                      text;
    const char                    *error;
    unsigned int                   n;
    const EVP_MD                  *md;
    ngx_queues_base_jwt_key_t     *key;
    ngx_queues_base_jwt_rules_t    rules;
    ngx_queues_base_jwt_claims_t   claims;

    static const char  payload[] = "{\"sub\":\"me\",\"exp\":1700000001}";

    key = &keys->keys[0];

    buf = fuzz_alloc(key->kid.len + 64);

    p = buf + sprintf((char *) buf, "{\"alg\":\"%s\"",
                      key->alg ? (char *) key->alg->name.data : "HS384");

    if (key->kid.data) {
        p += sprintf((char *) p, ",\"kid\":\"");
        p = ngx_cpymem(p, key->kid.data, key->kid.len);
        *p++ = '"';
    }

    *p++ = '}';

    token = fuzz_alloc(2 * (p - buf) + 256);

    text.data = token;
    text.len = ngx_queues_base_base64url_print(token, buf, p - buf) - token;
    p = token + text.len;
    *p++ = '.';
    p = ngx_queues_base_base64url_print(p, (u_char *) payload,
                                        sizeof(payload) - 1);
    text.len = p - token;

    md = key->alg ? key->alg->md() : EVP_sha384();

    fuzz_assert(HMAC(md, key->secret.data, (int) key->secret.len, text.data,
                     text.len, mac, &n));

    *p++ = '.';
    text.len = ngx_queues_base_base64url_print(p, mac, n) - token;

    if (text.len <= NGX_QUEUES_BASE_JWT_MAX) {
        memset(&rules, 0, sizeof(rules));
        ngx_str_set(&rules.roles, "roles");

        room = fuzz_alloc(ngx_queues_base_jwt_room(text.len));

        fuzz_assert(ngx_queues_base_jwt_verify(keys, &rules, &text, FUZZ_NOW,
                                               room, &claims, &error)
                    == NGX_OK);
        free(room);
    }

    free(token);
    free(buf);
}


/* a file that is one secret: its line, if that is long enough and a text */

static void
fuzz_secret(ngx_queues_base_jwt_keys_t *keys, ngx_uint_t before, ngx_int_t rc,
    ngx_str_t *file)
{
    size_t      i;
    ngx_str_t   line;
    ngx_uint_t  good;

    for (i = 0; i < file->len && file->data[i] <= ' '; i++) { /* void */ }

    if (i == file->len || file->data[i] == '{'
        || memmem(file->data, file->len, "-----BEGIN ", 11))
    {
        return;
    }

    line = *file;
    line.len -= (line.data[line.len - 1] == '\n');
    line.len -= (line.len && line.data[line.len - 1] == '\r');

    good = (line.len >= 32 && before < NGX_QUEUES_BASE_JWT_KEYS);

    for (i = 0; i < line.len; i++) {
        good &= (line.data[i] >= ' ' && line.data[i] != 0x7f);
    }

    fuzz_assert(rc == (good ? NGX_OK : NGX_ERROR));

    if (good) {
        fuzz_assert(keys->nkeys == before + 1
                    && fuzz_same(&keys->keys[before].secret, &line));
    }
}


static void
fuzz_file(ngx_queues_base_jwt_keys_t *keys, ngx_str_t *file)
{
    ngx_int_t    rc;
    ngx_uint_t   i, before, number;
    const char  *error;

    static ngx_queues_base_jwt_key_t  none;

    before = keys->nkeys;
    error = NULL;

    rc = ngx_queues_base_jwt_keys_add(keys, file, &error, &number);

    if (rc == NGX_OK) {
        fuzz_assert(keys->nkeys > before
                    && keys->nkeys <= NGX_QUEUES_BASE_JWT_KEYS);

    } else {
        fuzz_assert(rc == NGX_ERROR && keys->nkeys == before);
        fuzz_assert(error && (strncmp(error, "has ", 4) == 0
                              || strncmp(error, "is ", 3) == 0));
        fuzz_assert(number <= 1 + file->len);
    }

    for (i = before; i < keys->nkeys; i++) {
        fuzz_key(&keys->keys[i]);
    }

    for ( /* void */ ; i < NGX_QUEUES_BASE_JWT_KEYS; i++) {
        fuzz_assert(memcmp(&keys->keys[i], &none, sizeof(none)) == 0);
    }

    fuzz_secret(keys, before, rc, file);
}


int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ngx_str_t                    rest, file;
    ngx_queues_base_jwt_keys_t  *keys;

    rest.data = (u_char *) data;
    rest.len = size;

    keys = ngx_queues_base_jwt_keys_create();
    fuzz_assert(keys);

    do {
        file = fuzz_take(&rest, 0x1e);
        fuzz_file(keys, &file);
        free(file.data);
    } while (rest.len);

    if (keys->nkeys == 1 && keys->keys[0].kind == NGX_QUEUES_BASE_JWT_HMAC) {
        fuzz_use(keys);
    }

    ngx_queues_base_jwt_keys_destroy(keys);

    return 0;
}
