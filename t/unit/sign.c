
#include "unit.h"
#include "ngx_queues_base_sign.h"
#include "ngx_queues_base_text.h"


#define UNIT_SECRETS  NGX_QUEUES_BASE_SECRETS_MAX


/* computed by Python's hmac */

typedef struct {
    uint64_t     t;
    ngx_str_t    body;
    const char  *hex[UNIT_SECRETS];
    const char  *base64[UNIT_SECRETS];
} unit_vector_t;


static ngx_str_t  unit_secrets[] = {
    ngx_string("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"),
    ngx_string("whsec_-_-__vv_v_77_7_--_-__vv_v_77_7_--_-__vv_v_4"),
    ngx_string("whsec_hLyIWJb1MfsYAMXfW18C15aDlQYqcIMy0liE2Ojkgak"),
    ngx_string("whsec___________________________________________8")
};


static ngx_str_t  unit_id =
    ngx_string("01999f41-6c3b-7a2d-9e1f-0a1b2c3d4e5f");


static unit_vector_t  unit_vectors[] = {
    { 1699999999ULL, ngx_string(""),
      { "533fcc23c9157621f242ba8c3ce2f962d93f8ffd3fd4ce1b3cb5480f959c39ef",
        "ecdd59ae8914aa9df62cd59317d4ad7989c8b56cf1a4bfafcb384d0beae8ddc4",
        "934611134034616a324bc36f8d2e19f8afdc9700b92143e5cf66dfcd90257312",
        "3ac2c4194f9ac6ffcddb076f8599cd2651bb8d090a31c61615a71fb091d8577a" },
      { "ASAfUQy9ymlIuTEYFPh01YtpdXsMFB1Z6Tr3o449eWY=",
        "9v5xM5SDVM0OI4KxC4r2uQAHN5Hs+LLU5+qln7OU0hs=",
        "ykhRfORvmr3YTWnjIUsfVUX4rws+ATe6/2Y3b/ObSgI=",
        "Ym0qjH1d1w4C0wjexH++bIw0bf9scFK3hVCS7WA9GxA=" } },

    { 1699999999ULL, ngx_string("{\"messages\":[]}"),
      { "56c1f0cadf7ad3724b6197d08a61daa947b0977720754eb9881e87b5a516bd2c",
        "77bed455b904d1bc09d9d3899dafae7ec942efe19afb36d764593f3f288372a1",
        "d8aa187bef3e89ec81609becb2b06c181927e0ecde0b6ec01d8aeff813255bf3",
        "37975fe09d324b9f5dd7bf3f26407d85b9b5fe795f0b7f01cc85be3dce5d0265" },
      { "PFC/3vhwfjMfcV6IXFFqw/QJdmuRwon44mkZFOMDvVg=",
        "4JQbr84Ju67i1s6k2OWB29y64+eRsWq8ClsGOXQrI0Q=",
        "pXHuPwgW/kMT3xyX/ygV2o73bwghVjbBm+VR4mieFLI=",
        "cbiqWONMha8/Q5dP17OjFdPnr3bjlD70WnxJGR33OPI=" } },

    { 1699999999ULL,
      ngx_string("\xc3\xa9\xe2\x82\xb9\xf0\x9f\x98\x8a\xe2\x80\xa8</"),
      { "4cd58e2a762d406db083de99044a3fdca3fe9a3cf8697c48104dfb2b63646345",
        "5b0b8003f7522d56a4e4168d13ead7072fd09d56f3d5c4cd32772baa1f3dc254",
        "a74853fac08221bd556b3807e97f5a61cc06b2bcce19b41f1bf0e7fcc9f404e7",
        "9fb963f5b7334130e8ba5308d531123fdd9d8349190b4be4b03fcda400430596" },
      { "YuC0HSUzOUXwg/ND1TMaRx5NRvy0xWnSXxG2mrM/Duo=",
        "VRGb8cFCDeWZvPwsf1+RwgUPfsHsGYWQuwxPdHWnU9w=",
        "wpIK1fjRTjBCwJCpSPFq9Pe/YJMY883LPdN8t0hC6OA=",
        "X5NeAKQfIT6+S0V7a9Kp4no2ZZWfalXWSaRU1NFTx0Q=" } },

    { 1699999999ULL, ngx_string("a\0" "b"),
      { "226dfc46e1c5e3c109d18cd1c13a770088d20fcf1641fdd55bc2391a7d972d20",
        "4c2f8d46d3d290acc7d3add75feff6d83e8d2bf807c25910b8b4ecf78ed6a7a0",
        "abd320e001bc37e8ad4827ca2aee04b7147f5f1cac1af839067557cea6f3de3c",
        "c5efc1e62aa75edd851326efdbf2c3586cf3f4c7d7ca88a5f97acd89b0ade317" },
      { "CwcokUgJoxRnn0ThXa04SCuBElxcuHHMVCQPtx3t5w8=",
        "mSqLyT8IReLcUnX2HBjnv6naoBNG35TwvQ5U4rPwYLE=",
        "liVblG6set6ncOSKYaAFTzd6bh8PvhCcc9zp1P7VpXQ=",
        "DeS3a5/RHfCJeA/EYfJdPt3SE/Yyb9OAfo7QZrSU4jo=" } },

    { 0ULL, ngx_string("{\"messages\":[]}"),
      { "5dd3164717f69dd72f8879ceb3f6da2d258dc138ede8d7e410e1624884de747a",
        "fdc51ccaeb8eea5eb899375f8057651456962075b047fa9a05ad7f84c0f7325b",
        "bfce30e31b5ca36a8f24da0b8151adbeb1beac15e03a4f539216fcffff571cd8",
        "fe35a0ad9182ba5c3665aaed8cf79ead3b98ff9f8b3cf4d2ac98f3a4d56d59cd" },
      { "QvgJWRbPqn5q+OBzl0Wlfn/CIvGaRqzfhQmyGfF1H3U=",
        "ZG/87LTX58gfZ59v6jLX3qJ1UzicLqNJWib8hH5TNFs=",
        "O0uiZuLa66QhmWcnAWLbFyao/2dQRpwSgPOE3pBgCmk=",
        "yrMsywIS9o3aA2i+/wprSuBNs0Ss30bZNSumC5BTsPo=" } },

    { 18446744073709551615ULL, ngx_string("{\"messages\":[]}"),
      { "4e12aa6a06a27a505ca11955b67af82aae43f2579a93294d276479da19879649",
        "bce00623da7d740bf9b8fab6e8d5d8c3cdea8b4a2b9c1cb8034641a3e8eb50e3",
        "dff6185547a3a212cf3a16dc5dae4c42ef968c1ebe05eed15d792b6df86bd5fe",
        "c92f23e6e6a612f858074ec3009ef89792a600b37c324dd791fedd09fda05df0" },
      { "c9uRiuPn3AO6v9GUVmM32gM6iklkDv1tBl9ktA7Hq9A=",
        "fSlp+NKXHj1IXYOpxoSbuf9nbpdBIbMFYDmI6aqs5CU=",
        "x8F9qYzVuslD49Z8v5qBcciOk1rmCpviyt/1ZlX4haQ=",
        "d2EUSqFFwbcZgNgoQFEsSRS6RjT1yy+I6K6wcQK8Beg=" } }
};


static ngx_queues_base_secrets_t  unit_all;


/* the text of a secret gives its bytes, and they give the text */

static void
unit_text(ngx_uint_t i)
{
    u_char     *end, *key, buf[NGX_QUEUES_BASE_SECRET_LEN];
    size_t      len;
    ngx_str_t   text;
    ngx_uint_t  portable;

    text.data = unit_secrets[i].data + 6;
    text.len = unit_secrets[i].len - 6;

    if (ngx_queues_base_base64url_parse(&text, unit_all.keys[i], &len)
        != NGX_OK
        || len != NGX_QUEUES_BASE_SECRET_SIZE)
    {
        abort();
    }

    text.data = unit_all.keys[i];
    text.len = NGX_QUEUES_BASE_SECRET_SIZE;
    key = unit_copy(&text).data;

    end = ngx_queues_base_secret_print(buf, key);

    unit_ok(end == buf + NGX_QUEUES_BASE_SECRET_LEN
            && memcmp(buf, unit_secrets[i].data, unit_secrets[i].len) == 0,
            "the text of a secret", &unit_secrets[i]);

    portable = (strpbrk((char *) unit_secrets[i].data + 6, "-_") == NULL);

    unit_ok(ngx_queues_base_secret_portable(key) == portable,
            portable ? "is portable" : "is not portable", &unit_secrets[i]);

    free(key);
}


/* some 26 % of all secrets are portable: (62 / 64) ^ 42 of the whole digits */

static void
unit_portable(void)
{
    u_char      secret[NGX_QUEUES_BASE_SECRET_SIZE], text[44];
    ngx_uint_t  i, k, n, bad;

    for (bad = 0, n = 0, i = 0; i < 10000; i++) {
        for (k = 0; k < sizeof(secret); k++) {
            secret[k] = (u_char) (unit_random() >> 8);
        }

        *ngx_queues_base_base64url_print(text, secret, sizeof(secret)) = '\0';

        k = (strpbrk((char *) text, "-_") == NULL);

        bad += (ngx_queues_base_secret_portable(secret) != k);
        n += k;
    }

    unit_ok(bad == 0, "portable is what has neither - nor _", NULL);
    unit_ok(n > 2300 && n < 3000, "as many are as should be", NULL);
}


/* with the first n secrets; in memory of exactly the size */

static ngx_uint_t
unit_signed(unit_vector_t *v, ngx_uint_t n)
{
    char        expected[NGX_QUEUES_BASE_SIGNATURE_MAX + 1];
    char        webhook[NGX_QUEUES_BASE_WEBHOOK_MAX + 1];
    u_char     *end, *p;
    size_t      len;
    ngx_str_t   body;
    ngx_uint_t  i, ok;

    len = sprintf(expected, "t=%llu", (unsigned long long) v->t);

    for (i = 0; i < n; i++) {
        len += sprintf(expected + len, ",v1=%s", v->hex[i]);
    }

    unit_all.n = n;
    body = unit_copy(&v->body);

    p = malloc(len);
    end = ngx_queues_base_sign(p, &unit_all, v->t, &body);
    ok = end == p + len && memcmp(p, expected, len) == 0;
    free(p);

    len = 0;

    for (i = 0; i < n; i++) {
        len += sprintf(webhook + len, "%sv1,%s", i ? " " : "", v->base64[i]);
    }

    p = malloc(len ? len : 1);
    end = ngx_queues_base_sign_webhook(p, &unit_all, &unit_id, v->t, &body);
    ok &= end == p + len && memcmp(p, webhook, len) == 0;
    free(p);

    free(body.data);

    return ok;
}


int
main(void)
{
    ngx_uint_t  i, n, most;

    for (i = 0; i < UNIT_SECRETS; i++) {
        unit_text(i);
    }

    unit_portable();

    for (i = 0; i < UNIT_ROWS(unit_vectors); i++) {
        for (n = 0; n <= UNIT_SECRETS; n++) {
            unit_ok(unit_signed(&unit_vectors[i], n), "signed",
                    &unit_vectors[i].body);
        }
    }

    most = 2 + NGX_QUEUES_BASE_DECIMAL_MAX + UNIT_SECRETS * (4 + 64);
    unit_ok(most <= NGX_QUEUES_BASE_SIGNATURE_MAX
            && UNIT_SECRETS * (4 + 44) - 1 <= NGX_QUEUES_BASE_WEBHOOK_MAX,
            "the longest have room", NULL);

    return unit_done();
}
