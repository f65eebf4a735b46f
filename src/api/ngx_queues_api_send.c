
#include "ngx_queues_api_messages.h"


#define NGX_QUEUES_API_BODY_MAX        1048576   /* of any queue */
#define NGX_QUEUES_API_ATTRIBUTES_MAX  10
#define NGX_QUEUES_API_ATTRIBUTE_NAME  128
#define NGX_QUEUES_API_ATTRIBUTE_VALUE 1024

/* as JSON text: ten of the largest, all of it escaped, and some blanks */
#define NGX_QUEUES_API_ATTRIBUTES_TEXT                                        \
    (NGX_QUEUES_API_ATTRIBUTES_MAX                                            \
     * 6 * (NGX_QUEUES_API_ATTRIBUTE_NAME + NGX_QUEUES_API_ATTRIBUTE_VALUE)   \
     + 1024)

/* "messages[9]." */
#define NGX_QUEUES_API_PREFIX_MAX      16

/* of the answer, for each message */
#define NGX_QUEUES_API_SENT_MAX                                               \
    (sizeof("{\"messageId\":\"\",\"seq\":\"\",\"duplicate\":true},")           \
     + NGX_QUEUES_BASE_UUID_LEN + NGX_QUEUES_BASE_DECIMAL_MAX)


typedef enum {
    NGX_QUEUES_API_SEND_BODY = 0,
    NGX_QUEUES_API_SEND_ATTRIBUTES,
    NGX_QUEUES_API_SEND_DELAY,
    NGX_QUEUES_API_SEND_GROUP,
    NGX_QUEUES_API_SEND_DEDUPLICATION,
    NGX_QUEUES_API_SEND_NFIELDS,                /* of one message */
    NGX_QUEUES_API_SEND_MESSAGES = NGX_QUEUES_API_SEND_NFIELDS,
    NGX_QUEUES_API_SEND_NMEMBERS
} ngx_queues_api_send_member_e;


static ngx_int_t ngx_queues_api_send_parse(ngx_queues_api_t *api,
    ngx_queues_store_send_t *messages);
static ngx_int_t ngx_queues_api_send_batch(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_store_send_t *messages);
static ngx_int_t ngx_queues_api_send_message(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_str_t *prefix,
    ngx_queues_store_send_t *message);
static void ngx_queues_api_send_note(ngx_queues_api_sent_t *sent,
    ngx_queues_store_send_t *message);
static ngx_int_t ngx_queues_api_send_body(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    ngx_queues_store_send_t *message);
static ngx_int_t ngx_queues_api_send_attributes(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    ngx_str_t *attributes);
static const char *ngx_queues_api_attribute_error(ngx_str_t *name,
    ngx_queues_base_json_value_t *value);
static void ngx_queues_api_send_done(void *data,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_send_too_big(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);
static void ngx_queues_api_send_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result);


static const ngx_str_t  ngx_queues_api_send_names[] = {
    ngx_string("body"),
    ngx_string("attributes"),
    ngx_string("delaySeconds"),
    ngx_string("groupId"),
    ngx_string("deduplicationId"),
    ngx_string("messages")
};


void
ngx_queues_api_send(ngx_queues_api_t *api)
{
    ngx_queues_api_sent_t    *sent;
    ngx_queues_store_send_t   messages[NGX_QUEUES_STORE_BATCH_MAX];

    ngx_memzero(messages, sizeof(messages));

    sent = ngx_pcalloc(api->op->pool, sizeof(ngx_queues_api_sent_t));
    if (sent == NULL) {
        ngx_queues_api_no_memory(api);
        return;
    }

    api->data = sent;

    sent->grouped = NGX_QUEUES_STORE_BATCH_MAX;
    sent->deduplicated = NGX_QUEUES_STORE_BATCH_MAX;
    sent->ungrouped = NGX_QUEUES_STORE_BATCH_MAX;
    sent->by_content = NGX_QUEUES_STORE_BATCH_MAX;
    sent->delayed = NGX_QUEUES_STORE_BATCH_MAX;

    if (ngx_queues_api_send_parse(api, messages) != NGX_OK) {
        return;
    }

    if (sent->fifo) {
        ngx_queues_api_fifo_send(api, messages, ngx_queues_api_send_done);
        return;
    }

    ngx_queues_api_started(api,
        ngx_queues_store_send(&api->root, &api->ref, messages, sent->n,
                              ngx_queues_api_send_done, api));
}


static ngx_int_t
ngx_queues_api_send_parse(ngx_queues_api_t *api,
    ngx_queues_store_send_t *messages)
{
    ngx_uint_t                     i;
    ngx_queues_api_sent_t         *sent;
    ngx_queues_base_json_value_t   body;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_SEND_NMEMBERS];

    sent = api->data;

    if (ngx_queues_api_body(api, 0, &body) != NGX_OK
        || ngx_queues_api_members(api, &body, NULL, ngx_queues_api_send_names,
                                  NGX_QUEUES_API_SEND_NMEMBERS, values)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    if (values[NGX_QUEUES_API_SEND_MESSAGES].type
        == NGX_QUEUES_BASE_JSON_NULL)
    {
        return ngx_queues_api_send_message(api, values, NULL, messages);
    }

    for (i = 0; i < NGX_QUEUES_API_SEND_NFIELDS; i++) {
        if (values[i].type != NGX_QUEUES_BASE_JSON_NULL) {
            ngx_queues_api_invalid(api, NULL, &ngx_queues_api_send_names[i],
                                   "does not go with \"messages\"");
            return NGX_ERROR;
        }
    }

    sent->batch = 1;

    return ngx_queues_api_send_batch(api,
                                     &values[NGX_QUEUES_API_SEND_MESSAGES],
                                     messages);
}


static ngx_int_t
ngx_queues_api_send_batch(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *array, ngx_queues_store_send_t *messages)
{
    u_char                         buf[NGX_QUEUES_API_PREFIX_MAX];
    ngx_str_t                      prefix;
    ngx_uint_t                     i;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   message;
    ngx_queues_base_json_value_t   values[NGX_QUEUES_API_SEND_NFIELDS];

    if (array->type != NGX_QUEUES_BASE_JSON_ARRAY) {
        goto invalid;
    }

    ngx_queues_base_json_open(&it, array);

    for (i = 0;
         ngx_queues_base_json_next(&it, NULL, &message) == NGX_OK;
         i++)
    {
        if (i == NGX_QUEUES_STORE_BATCH_MAX
            || message.type != NGX_QUEUES_BASE_JSON_OBJECT)
        {
            goto invalid;
        }

        prefix.data = buf;
        prefix.len = ngx_snprintf(buf, sizeof(buf), "messages[%ui].", i)
                     - buf;

        if (ngx_queues_api_members(api, &message, &prefix,
                                   ngx_queues_api_send_names,
                                   NGX_QUEUES_API_SEND_NFIELDS, values)
            != NGX_OK
            || ngx_queues_api_send_message(api, values, &prefix,
                                           &messages[i])
               != NGX_OK)
        {
            return NGX_ERROR;
        }
    }

    if (i) {
        return NGX_OK;
    }

invalid:

    ngx_queues_api_invalid(api, NULL,
                   &ngx_queues_api_send_names[NGX_QUEUES_API_SEND_MESSAGES],
                   "must be an array of 1 to 10 message objects");

    return NGX_ERROR;
}


static ngx_int_t
ngx_queues_api_send_message(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *values, ngx_str_t *prefix,
    ngx_queues_store_send_t *message)
{
    const ngx_str_t  *names;

    names = ngx_queues_api_send_names;

    message->delay = -1;

    if (ngx_queues_api_send_body(api, &values[NGX_QUEUES_API_SEND_BODY],
                                 prefix, message)
        != NGX_OK
        || ngx_queues_api_send_attributes(api,
                                     &values[NGX_QUEUES_API_SEND_ATTRIBUTES],
                                     prefix, &message->attributes)
           != NGX_OK
        || ngx_queues_api_integer(api, &values[NGX_QUEUES_API_SEND_DELAY],
                                  prefix, &names[NGX_QUEUES_API_SEND_DELAY],
                                  0, NGX_QUEUES_API_DELAY_MAX,
                                  &message->delay)
           != NGX_OK
        || ngx_queues_api_fifo_ids(api, prefix,
                                   &values[NGX_QUEUES_API_SEND_GROUP],
                                   &values[NGX_QUEUES_API_SEND_DEDUPLICATION],
                                   message)
           != NGX_OK)
    {
        return NGX_ERROR;
    }

    ngx_queues_api_send_note(api->data, message);

    return NGX_OK;
}


/* which message is to blame if the queue turns out to be of the other kind */

static void
ngx_queues_api_send_note(ngx_queues_api_sent_t *sent,
    ngx_queues_store_send_t *message)
{
    ngx_uint_t  *noted;

    noted = message->group.len ? &sent->grouped : &sent->ungrouped;
    *noted = ngx_min(*noted, sent->n);

    noted = message->id.len ? &sent->deduplicated : &sent->by_content;
    *noted = ngx_min(*noted, sent->n);

    if (message->delay >= 0) {
        sent->delayed = ngx_min(sent->delayed, sent->n);
    }

    if (message->group.len || message->id.len) {
        sent->fifo = 1;
    }

    sent->n++;
}


static ngx_int_t
ngx_queues_api_send_body(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    ngx_queues_store_send_t *message)
{
    const ngx_str_t  *name;

    name = &ngx_queues_api_send_names[NGX_QUEUES_API_SEND_BODY];

    if (value->type != NGX_QUEUES_BASE_JSON_STRING || value->raw.len == 0) {
        ngx_queues_api_invalid(api, prefix, name,
                               "must be a string of at least 1 character");
        return NGX_ERROR;
    }

    message->body = value->raw;
    message->length = ngx_queues_base_json_decoded_length(&value->raw);

    if (message->length > NGX_QUEUES_API_BODY_MAX) {
        ngx_queues_api_invalid(api, prefix, name,
                               "is over the 1048576 bytes of any queue");
        return NGX_ERROR;
    }

    return NGX_OK;
}


/* Kept as they came, so that they go back byte for byte. */

static ngx_int_t
ngx_queues_api_send_attributes(ngx_queues_api_t *api,
    ngx_queues_base_json_value_t *value, ngx_str_t *prefix,
    ngx_str_t *attributes)
{
    ngx_str_t                      names[NGX_QUEUES_API_ATTRIBUTES_MAX];
    ngx_uint_t                     i, n;
    const char                    *error;
    const ngx_str_t               *name;
    ngx_queues_base_json_iter_t    it;
    ngx_queues_base_json_value_t   v;

    name = &ngx_queues_api_send_names[NGX_QUEUES_API_SEND_ATTRIBUTES];

    if (value->type == NGX_QUEUES_BASE_JSON_NULL) {
        return NGX_OK;
    }

    error = "must be an object of at most 10 strings";

    if (value->type != NGX_QUEUES_BASE_JSON_OBJECT) {
        goto invalid;
    }

    /* blanks are stored too, and count in no other limit */

    if (value->raw.len > NGX_QUEUES_API_ATTRIBUTES_TEXT) {
        error = "has too many blanks";
        goto invalid;
    }

    ngx_queues_base_json_open(&it, value);

    for (n = 0;
         n < NGX_QUEUES_API_ATTRIBUTES_MAX
         && ngx_queues_base_json_next(&it, &names[n], &v) == NGX_OK;
         n++)
    {
        error = ngx_queues_api_attribute_error(&names[n], &v);
        if (error) {
            goto invalid;
        }

        for (i = 0; i < n; i++) {
            if (ngx_queues_base_json_equal(&names[i], &names[n])) {
                ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_JSON, NULL,
                                     "The attribute \"%V\" is there twice.",
                                     &names[n]);
                return NGX_ERROR;
            }
        }
    }

    error = "must not have more than 10 members";

    if (n == NGX_QUEUES_API_ATTRIBUTES_MAX
        && ngx_queues_base_json_next(&it, NULL, &v) == NGX_OK)
    {
        goto invalid;
    }

    if (n) {
        *attributes = value->raw;
    }

    return NGX_OK;

invalid:

    ngx_queues_api_invalid(api, prefix, name, error);

    return NGX_ERROR;
}


static const char *
ngx_queues_api_attribute_error(ngx_str_t *name,
    ngx_queues_base_json_value_t *value)
{
    u_char      decoded[NGX_QUEUES_API_ATTRIBUTE_NAME];
    u_char      c;
    ngx_uint_t  i, len;

    len = ngx_queues_base_json_decoded_length(name);

    if (len < 1 || len > NGX_QUEUES_API_ATTRIBUTE_NAME) {
        return "must have names of 1 to 128 characters";
    }

    (void) ngx_queues_base_json_decode(decoded, name);

    for (i = 0; i < len; i++) {
        c = decoded[i];

        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')
            && !(c >= '0' && c <= '9') && c != '_' && c != '.' && c != '-')
        {
            return "must have names of letters, digits, \"_\", \".\" and "
                   "\"-\" only";
        }
    }

    if (len >= 5 && ngx_strncasecmp(decoded, (u_char *) "ezgh.", 5) == 0) {
        return "must not have names that start with \"ezgh.\"";
    }

    if (value->type != NGX_QUEUES_BASE_JSON_STRING
        || ngx_queues_base_json_decoded_length(&value->raw)
           > NGX_QUEUES_API_ATTRIBUTE_VALUE)
    {
        return "must have strings of at most 1024 bytes as values";
    }

    return NULL;
}


static void
ngx_queues_api_send_done(void *data, ngx_queues_store_result_t *result)
{
    ngx_queues_api_t *api = data;

    ngx_queues_api_limit_learn(api, result->place.queue);

    if (api->op->request) {

        if (result->code == NGX_QUEUES_STORE_OK) {
            ngx_queues_api_send_answer(api, result);

        } else if (result->code == NGX_QUEUES_STORE_TOO_BIG) {
            ngx_queues_api_send_too_big(api, result);

        } else if (ngx_queues_api_fifo_error(api, result) != NGX_OK) {
            ngx_queues_api_store_error(api, result);
        }
    }

    ngx_queues_http_op_release(api->op);
}


static void
ngx_queues_api_send_too_big(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char                  buf[NGX_QUEUES_API_PREFIX_MAX + sizeof("body")];
    ngx_str_t               field;
    ngx_queues_api_sent_t  *sent;

    sent = api->data;
    field.data = buf;

    if (sent->batch) {
        field.len = ngx_snprintf(buf, sizeof(buf), "messages[%ui].body",
                                 result->index)
                    - buf;

    } else {
        ngx_str_set(&field, "body");
    }

    ngx_queues_api_error(api, NGX_QUEUES_API_INVALID_ARGUMENT, &field,
                         "The field \"%V\" is over the %L bytes of this "
                         "queue.", &field, result->limit);
}


static void
ngx_queues_api_send_answer(ngx_queues_api_t *api,
    ngx_queues_store_result_t *result)
{
    u_char                   *p, *start;
    ngx_uint_t                i;
    ngx_queues_store_sent_t  *sent;

    start = ngx_queues_api_alloc(api, sizeof("{\"messages\":[]}")
                                      + result->nsent
                                        * NGX_QUEUES_API_SENT_MAX);
    if (start == NULL) {
        return;
    }

    p = ngx_cpymem(start, "{\"messages\":[", sizeof("{\"messages\":[") - 1);

    for (i = 0; i < result->nsent; i++) {
        sent = &result->sent[i];

        if (i) {
            *p++ = ',';
        }

        p = ngx_cpymem(p, "{\"messageId\":\"", sizeof("{\"messageId\":\"") - 1);
        p = ngx_queues_store_message_id(p, &sent->place, &sent->spot);
        *p++ = '"';

        if (sent->seq) {
            p = ngx_cpymem(p, ",\"seq\":\"", sizeof(",\"seq\":\"") - 1);
            p = ngx_queues_base_decimal_print(p, sent->seq);
            *p++ = '"';
        }

        if (sent->duplicate) {
            p = ngx_cpymem(p, ",\"duplicate\":true",
                           sizeof(",\"duplicate\":true") - 1);
        }

        *p++ = '}';
    }

    *p++ = ']';
    *p++ = '}';

    api->op->note->messages = result->nsent;

    ngx_queues_api_answer(api, NGX_HTTP_CREATED, start, p);
}
