
#include "oidc.h"
#include "ngx_queues_base_jwt.h"


#define EMAIL    "push@acme.iam.gserviceaccount.com"
#define SUB      "159156988196378870443"
#define AUD      "https://example.com/push?a=b"


/* made once: each takes a while */

static EVP_PKEY  *unit_rsa, *unit_other, *unit_large;


static ngx_uint_t
unit_verified(ngx_str_t *token, EVP_PKEY *pkey)
{
    BIO         *bio;
    char         signature[1024];
    size_t       len, signed_len;
    ngx_str_t    pem;
    EVP_PKEY    *public;
    ngx_uint_t   ok;
    EVP_MD_CTX  *ctx;

    pem = unit_pem(pkey, UNIT_PUBLIC, 0);
    bio = BIO_new_mem_buf(pem.data, pem.len);
    public = PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);

    len = unit_part(token, 2, signature);
    signed_len = (u_char *) memrchr(token->data, '.', token->len)
                 - token->data;

    ctx = EVP_MD_CTX_new();

    ok = EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, public) == 1
         && EVP_DigestVerify(ctx, (u_char *) signature, len, token->data,
                             signed_len)
            == 1;

    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(public);
    BIO_free(bio);
    free(pem.data);
    ERR_clear_error();

    return ok;
}


/* in memory of exactly the room that was asked for */

static ngx_str_t
unit_token(ngx_queues_base_oidc_keys_t *keys, ngx_str_t issuer,
    ngx_str_t email, ngx_str_t audience, int64_t now)
{
    u_char                         *p, *end;
    ngx_str_t                       token, text;
    ngx_queues_base_oidc_claims_t   claims;

    claims.issuer = unit_copy(&issuer);
    claims.email = unit_copy(&email);
    claims.audience = unit_copy(&audience);
    claims.now = now;

    p = malloc(ngx_queues_base_oidc_room(keys, &claims));
    end = ngx_queues_base_oidc_token(p, keys, &claims);

    text.data = p;
    text.len = end ? end - p : 0;
    token = unit_copy(&text);

    free(p);
    free(claims.issuer.data);
    free(claims.email.data);
    free(claims.audience.data);

    return token;
}


static void
unit_signed(const char *what, EVP_PKEY *pkey, EVP_PKEY *other,
    const char *email, const char *audience, const char *issuer, int64_t now,
    const char *expected)
{
    char                          text[8192], header[256];
    ngx_str_t                     token;
    ngx_uint_t                    ok;
    ngx_queues_base_oidc_keys_t  *keys;

    keys = unit_keys(pkey, other);

    token = unit_token(keys, unit_text(issuer), unit_text(email),
                       unit_text(audience), now);

    sprintf(header, "{\"alg\":\"RS256\",\"kid\":\"%.40s\",\"typ\":\"JWT\"}",
            keys->keys[0].kid);

    unit_part(&token, 0, text);
    ok = strcmp(text, header) == 0;

    unit_part(&token, 1, text);
    ok &= strcmp(text, expected) == 0;

    if (!ok) {
        printf("# %s\n", text);
    }

    ok &= unit_verified(&token, pkey);
    ok &= !unit_verified(&token, other);

    /* another first byte of the claims */

    token.data[(u_char *) memchr(token.data, '.', token.len) - token.data + 1]
        ^= 1;
    ok &= !unit_verified(&token, pkey);

    unit_ok(ok, what, NULL);

    free(token.data);
    ngx_queues_base_oidc_keys_destroy(keys);
}


static void
unit_tokens(void)
{
    char    audience[301], expected[4096];
    size_t  i;

    unit_signed("a token", unit_rsa, unit_other, EMAIL, AUD, ISSUER, NOW,
                "{\"aud\":\"" AUD "\",\"azp\":\"" SUB "\",\"email\":\"" EMAIL
                "\",\"sub\":\"" SUB "\",\"email_verified\":true,"
                "\"exp\":1700003600,\"iat\":1700000000,\"iss\":\"" ISSUER
                "\"}");

    unit_signed("one of a key of 4096 bits", unit_large, unit_rsa, EMAIL, "a",
                "b", 1,
                "{\"aud\":\"a\",\"azp\":\"" SUB "\",\"email\":\"" EMAIL
                "\",\"sub\":\"" SUB "\",\"email_verified\":true,"
                "\"exp\":3601,\"iat\":1,\"iss\":\"b\"}");

    unit_signed("nothing in it", unit_other, unit_rsa, "", "", "", 0,
                "{\"aud\":\"\",\"azp\":\"125616242824829410043\",\"email\":\"\""
                ",\"sub\":\"125616242824829410043\",\"email_verified\":true,"
                "\"exp\":3600,\"iat\":0,\"iss\":\"\"}");

    unit_signed("what needs an escape", unit_rsa, unit_other, "\xc3\xa9@x",
                "\"\\\n\xff\x01", "</i>", NOW,
                "{\"aud\":\"\\\"\\\\\\n\xef\xbf\xbd\\u0001\","
                "\"azp\":\"104628076216695447557\",\"email\":\"\xc3\xa9@x\","
                "\"sub\":\"104628076216695447557\",\"email_verified\":true,"
                "\"exp\":1700003600,\"iat\":1700000000,\"iss\":\"</i>\"}");

    strcpy(expected, "{\"aud\":\"");

    for (i = 0; i < sizeof(audience) - 1; i++) {
        audience[i] = '\1';
        strcat(expected, "\\u0001");
    }

    audience[i] = '\0';

    strcat(expected, "\",\"azp\":\"" SUB "\",\"email\":\"" EMAIL "\",\"sub\":\""
                     SUB "\",\"email_verified\":true,\"exp\":1700003600,"
                     "\"iat\":1700000000,\"iss\":\"" ISSUER "\"}");

    unit_signed("nothing but escapes", unit_rsa, unit_other, EMAIL, audience,
                ISSUER, NOW, expected);
}


static void
unit_subjects(void)
{
    u_char      text[NGX_QUEUES_BASE_OIDC_SUB_LEN];
    ngx_str_t   email;
    ngx_uint_t  i;

    /* computed by Python's hashlib */

    static const char  *expected[][2] = {
        { EMAIL, SUB },
        { "Push@acme.iam.gserviceaccount.com", "163652623614591642649" },
        { "\xc3\xa9@x", "104628076216695447557" },
        { "", "125616242824829410043" }
    };

    for (i = 0; i < UNIT_ROWS(expected); i++) {
        email = unit_text(expected[i][0]);

        unit_ok(ngx_queues_base_oidc_subject(text, &email)
                == text + sizeof(text)
                && memcmp(text, expected[i][1], sizeof(text)) == 0,
                "subject", &email);
    }
}


/* what is published is enough for who does not know us: our own verifier */

static void
unit_published(void)
{
    u_char                        *room;
    ngx_str_t                      set, token;
    ngx_uint_t                     number, ok;
    const char                    *error;
    ngx_queues_base_jwt_keys_t    *known;
    ngx_queues_base_oidc_keys_t   *keys;
    ngx_queues_base_jwt_rules_t    rules;
    ngx_queues_base_jwt_claims_t   claims;

    keys = unit_keys(unit_rsa, unit_other);

    set.len = ngx_queues_base_oidc_jwks_length(keys);
    set.data = malloc(set.len);
    ngx_queues_base_oidc_jwks(set.data, keys);

    known = ngx_queues_base_jwt_keys_create();
    ok = ngx_queues_base_jwt_keys_add(known, &set, &error, &number) == NGX_OK;
    unit_ok(ok, "the set is a JWKS", NULL);

    ngx_memzero(&rules, sizeof(rules));
    rules.issuer = unit_text(ISSUER);
    rules.audience = unit_text(AUD);

    ngx_queues_base_oidc_keys_destroy(keys);

    /* the other one signs now: its key was published before */

    keys = unit_keys(unit_other, unit_rsa);
    token = unit_token(keys, unit_text(ISSUER), unit_text(EMAIL),
                       unit_text(AUD), NOW);

    room = malloc(ngx_queues_base_jwt_room(token.len));

    ok = ngx_queues_base_jwt_verify(known, &rules, &token, NOW, room, &claims,
                                    &error)
         == NGX_OK;

    if (!ok) {
        printf("# %s\n", error);
    }

    ok = ok && claims.subject.len == sizeof(SUB) - 1
         && memcmp(claims.subject.data, SUB, sizeof(SUB) - 1) == 0
         && claims.ends == NOW + 3600;

    unit_ok(ok, "its tokens are verified with it", NULL);

    free(room);
    free(token.data);
    free(set.data);
    ngx_queues_base_jwt_keys_destroy(known);
    ngx_queues_base_oidc_keys_destroy(keys);
}


int
main(void)
{
    unit_rsa = EVP_RSA_gen(2048);
    unit_other = EVP_RSA_gen(2048);
    unit_large = EVP_RSA_gen(4096);

    unit_tokens();
    unit_subjects();
    unit_published();

    EVP_PKEY_free(unit_rsa);
    EVP_PKEY_free(unit_other);
    EVP_PKEY_free(unit_large);

    return unit_done();
}
