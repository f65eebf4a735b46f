
#include "ngx_queues_conf.h"


ngx_int_t
ngx_queues_conf_read_file(ngx_conf_t *cf, const char *directive,
    ngx_str_t *file, size_t max, ngx_str_t *text)
{
    size_t           size;
    ssize_t          n;
    ngx_fd_t         fd;
    ngx_file_t       f;
    ngx_file_info_t  fi;

    if (ngx_conf_full_name(cf->cycle, file, 1) != NGX_OK) {
        return NGX_ERROR;
    }

    fd = ngx_open_file(file->data, NGX_FILE_RDONLY, NGX_FILE_OPEN, 0);

    if (fd == NGX_INVALID_FILE) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      "\"%s\": " ngx_open_file_n " \"%V\" failed",
                      directive, file);
        return NGX_ERROR;
    }

    text->data = NULL;

    if (ngx_fd_info(fd, &fi) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, ngx_errno,
                      "\"%s\": " ngx_fd_info_n " \"%V\" failed",
                      directive, file);
        goto failed;
    }

    if (!ngx_is_file(&fi) || ngx_file_size(&fi) > (off_t) max) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\": \"%V\" must be a regular file of at most "
                      "%uz bytes", directive, file, max);
        goto failed;
    }

    size = (size_t) ngx_file_size(&fi);

    text->data = ngx_pnalloc(cf->pool, size + 1);
    if (text->data == NULL) {
        goto failed;
    }

    ngx_memzero(&f, sizeof(ngx_file_t));
    f.fd = fd;
    f.name = *file;
    f.log = cf->log;

    n = ngx_read_file(&f, text->data, size, 0);

    if (n == NGX_ERROR || (size_t) n != size) {
        ngx_log_error(NGX_LOG_EMERG, cf->log, 0,
                      "\"%s\": \"%V\" could not be read whole",
                      directive, file);
        text->data = NULL;
        goto failed;
    }

    text->len = size;

failed:

    if (ngx_close_file(fd) == NGX_FILE_ERROR) {
        ngx_log_error(NGX_LOG_ALERT, cf->log, ngx_errno,
                      ngx_close_file_n " \"%V\" failed", file);
    }

    return text->data ? NGX_OK : NGX_ERROR;
}


ngx_int_t
ngx_queues_conf_next_line(ngx_str_t *text, ngx_str_t *line)
{
    u_char  *p, *last;

    if (text->len == 0) {
        return NGX_DONE;
    }

    last = text->data + text->len;

    p = ngx_strlchr(text->data, last, LF);
    if (p == NULL) {
        p = last;
    }

    line->data = text->data;
    line->len = p - text->data;

    text->data = (p == last) ? last : p + 1;
    text->len = last - text->data;

    if (line->len && line->data[line->len - 1] == CR) {
        line->len--;
    }

    return NGX_OK;
}
