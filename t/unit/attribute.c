
#include "unit.h"
#include "ngx_queues_base_attribute.h"


typedef struct {
    const char  *key;
    const char  *value;
    ngx_uint_t   header;
} unit_attribute_t;


static unit_attribute_t  unit_attributes[] = {
    { "key", "value", 1 },
    { "k", "", 1 },
    { "X-Custom", "a b, c; d=\"e\" ~", 1 },
    { "!#$%&'*+-.^_`|~09azAZ", "v", 1 },
    { "Content-Type", "text/plain", 1 },
    { "User-Agent", "me", 1 },
    { "ce-type", "t", 1 },
    { "x-goog-version", "v1", 1 },
    { "x-goog-pubsub", "v", 1 },
    { "hosts", "v", 1 },
    { "my-host", "v", 1 },
    { "te-x", "v", 1 },
    { "signatures", "v", 1 },
    { "", "v", 0 },
    { "a b", "v", 0 },
    { "a:", "v", 0 },
    { "a\r\nb", "v", 0 },
    { "(a)", "v", 0 },
    { "a\"", "v", 0 },
    { "a/b", "v", 0 },
    { "a@b", "v", 0 },
    { "a[", "v", 0 },
    { "a{", "v", 0 },
    { "a\x7f", "v", 0 },
    { "\xc3\xa9", "v", 0 },
    { "k", "a\r\nHost: b", 0 },
    { "k", "a\nb", 0 },
    { "k", "a\tb", 0 },
    { "k", "a\x01", 0 },
    { "k", "a\x7f", 0 },
    { "k", "\xc3\xa9", 0 },
    { "Host", "v", 0 },
    { "host", "v", 0 },
    { "HOST", "v", 0 },
    { "Content-Length", "0", 0 },
    { "content_length", "0", 0 },
    { "Transfer-Encoding", "chunked", 0 },
    { "Connection", "close", 0 },
    { "Keep-Alive", "v", 0 },
    { "TE", "v", 0 },
    { "Trailer", "v", 0 },
    { "Upgrade", "v", 0 },
    { "Expect", "100-continue", 0 },
    { "Authorization", "Bearer x", 0 },
    { "Proxy-Authorization", "v", 0 },
    { "Proxy-Connection", "v", 0 },
    { "Cookie", "v", 0 },
    { "Via", "v", 0 },
    { "Forwarded", "v", 0 },
    { "X-Forwarded-For", "v", 0 },
    { "X-Real-IP", "v", 0 },
    { "x-goog-pubsub-message-id", "1", 0 },
    { "X-Goog-PubSub-", "v", 0 },
    { "x_goog_pubsub_message_id", "1", 0 },
    { "Signature", "v", 0 },
    { "Signature-Input", "v", 0 },
    { "X-Queues-Signature", "v", 0 },
    { "webhook-id", "v", 0 }
};


static ngx_str_t
unit_text(const char *text)
{
    ngx_str_t  s;

    s.data = (u_char *) text;
    s.len = strlen(text);

    return unit_copy(&s);
}


static ngx_int_t
unit_length(ngx_int_t (*check)(ngx_str_t *text), size_t len)
{
    ngx_int_t  rc;
    ngx_str_t  text;

    text.len = len;
    text.data = malloc(len ? len : 1);
    memset(text.data, 'x', len);

    rc = check(&text);

    free(text.data);

    return rc;
}


int
main(void)
{
    u_char             nul[] = { 'a', '\0', 'b' };
    ngx_str_t          key, value;
    ngx_uint_t         i, expected;

    static const char  *keys[] = { "goo", "Google", "xgoog", "go\xc3\xb6g" };
    static const char  *wrong[] = { "", "goog", "google", "goog-x" };

    for (i = 0; i < UNIT_ROWS(unit_attributes); i++) {
        key = unit_text(unit_attributes[i].key);
        value = unit_text(unit_attributes[i].value);
        expected = unit_attributes[i].header;

        unit_ok(ngx_queues_base_attribute_header(&key, &value) == expected,
                expected ? "a header" : "no header", &key);

        free(key.data);
        free(value.data);
    }

    key.data = nul;
    key.len = 3;
    value.data = nul;
    value.len = 1;

    unit_ok(ngx_queues_base_attribute_header(&key, &value) == 0, "no header",
            &key);
    unit_ok(ngx_queues_base_attribute_header(&value, &key) == 0, "no value",
            &key);
    unit_ok(ngx_queues_base_attribute_key(&key) == NGX_OK, "a key", &key);

    for (i = 0; i < UNIT_ROWS(keys); i++) {
        key = unit_text(keys[i]);
        unit_ok(ngx_queues_base_attribute_key(&key) == NGX_OK, "a key", &key);
        free(key.data);
    }

    for (i = 0; i < UNIT_ROWS(wrong); i++) {
        key = unit_text(wrong[i]);
        unit_ok(ngx_queues_base_attribute_key(&key) == NGX_ERROR, "no key",
                &key);
        free(key.data);
    }

    unit_ok(unit_length(ngx_queues_base_attribute_key, 256) == NGX_OK,
            "a key of 256 bytes", NULL);
    unit_ok(unit_length(ngx_queues_base_attribute_key, 257) == NGX_ERROR,
            "none of 257", NULL);
    unit_ok(unit_length(ngx_queues_base_attribute_value, 0) == NGX_OK,
            "an empty value", NULL);
    unit_ok(unit_length(ngx_queues_base_attribute_value, 1024) == NGX_OK,
            "a value of 1024 bytes", NULL);
    unit_ok(unit_length(ngx_queues_base_attribute_value, 1025) == NGX_ERROR,
            "none of 1025", NULL);

    return unit_done();
}
