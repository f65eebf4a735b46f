
#include "ngx_queues_base_attribute.h"


typedef enum {
    NGX_QUEUES_BASE_ATTRIBUTE_IS = 0,
    NGX_QUEUES_BASE_ATTRIBUTE_BEGINS,
    NGX_QUEUES_BASE_ATTRIBUTE_ENDS
} ngx_queues_base_attribute_how_e;


typedef struct {
    const char                       *text;     /* lower case */
    ngx_queues_base_attribute_how_e   how;
} ngx_queues_base_attribute_name_t;


static ngx_uint_t ngx_queues_base_attribute_reserved(ngx_str_t *key);
static ngx_uint_t ngx_queues_base_attribute_token(ngx_str_t *key);


static const ngx_queues_base_attribute_name_t
    ngx_queues_base_attribute_names[] =
{
    { "x-goog-pubsub-", NGX_QUEUES_BASE_ATTRIBUTE_BEGINS },

    /* where a request ends, and what a connection does */

    { "content-length", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "transfer-encoding", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "connection", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "keep-alive", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "te", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "trailer", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "upgrade", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "expect", NGX_QUEUES_BASE_ATTRIBUTE_IS },

    /* who gets it, and who is said to have sent it */

    { "host", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "via", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "forwarded", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "x-forwarded-", NGX_QUEUES_BASE_ATTRIBUTE_BEGINS },
    { "x-real-ip", NGX_QUEUES_BASE_ATTRIBUTE_IS },

    /* who it is from: also what other pushes are signed with */

    { "proxy-", NGX_QUEUES_BASE_ATTRIBUTE_BEGINS },
    { "authorization", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "cookie", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "signature", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "-signature", NGX_QUEUES_BASE_ATTRIBUTE_ENDS },
    { "signature-input", NGX_QUEUES_BASE_ATTRIBUTE_IS },
    { "webhook-", NGX_QUEUES_BASE_ATTRIBUTE_BEGINS }
};


ngx_int_t
ngx_queues_base_attribute_key(ngx_str_t *key)
{
    if (key->len == 0
        || key->len > NGX_QUEUES_BASE_ATTRIBUTE_KEY_MAX
        || (key->len >= 4 && ngx_memcmp(key->data, "goog", 4) == 0))
    {
        return NGX_ERROR;
    }

    return NGX_OK;
}


ngx_int_t
ngx_queues_base_attribute_value(ngx_str_t *value)
{
    return value->len > NGX_QUEUES_BASE_ATTRIBUTE_VALUE_MAX ? NGX_ERROR
                                                            : NGX_OK;
}


ngx_uint_t
ngx_queues_base_attribute_header(ngx_str_t *key, ngx_str_t *value)
{
    size_t  i;

    if (!ngx_queues_base_attribute_token(key)
        || ngx_queues_base_attribute_reserved(key))
    {
        return 0;
    }

    for (i = 0; i < value->len; i++) {
        if (value->data[i] < 0x20 || value->data[i] > 0x7e) {
            return 0;
        }
    }

    return 1;
}


static ngx_uint_t
ngx_queues_base_attribute_token(ngx_str_t *key)
{
    u_char  *p, *last, c;

    p = key->data;
    last = p + key->len;

    for ( /* void */ ; p < last; p++) {
        c = *p | 0x20;

        if ((c < 'a' || c > 'z') && (*p < '0' || *p > '9')
            && (*p == '\0' || ngx_strchr("!#$%&'*+-.^_`|~", *p) == NULL))
        {
            return 0;
        }
    }

    return key->len > 0;
}


/* a name is its own in any case, and for some servers with '_' for '-' too */

static ngx_uint_t
ngx_queues_base_attribute_reserved(ngx_str_t *key)
{
    size_t                                   k, len;
    u_char                                  *p, c;
    ngx_uint_t                               i;
    const ngx_queues_base_attribute_name_t  *name;

    for (i = 0;
         i < sizeof(ngx_queues_base_attribute_names) / sizeof(*name);
         i++)
    {
        name = &ngx_queues_base_attribute_names[i];
        len = ngx_strlen(name->text);

        if (key->len < len
            || (key->len > len && name->how == NGX_QUEUES_BASE_ATTRIBUTE_IS))
        {
            continue;
        }

        p = key->data;

        if (name->how == NGX_QUEUES_BASE_ATTRIBUTE_ENDS) {
            p += key->len - len;
        }

        for (k = 0; k < len; k++) {
            c = (p[k] == '_') ? '-' : ngx_tolower(p[k]);

            if (c != (u_char) name->text[k]) {
                break;
            }
        }

        if (k == len) {
            return 1;
        }
    }

    return 0;
}
