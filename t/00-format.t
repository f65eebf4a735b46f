# The reader of this format, t/lib/Test/Nginx/Socket.pm, on nginx alone. The
# file passes under the CPAN module as well.

use NgxQueues::Env qw/no_redis/;
use Test::Nginx::Socket;

repeat_each(2);
no_shuffle();
no_root_location();

plan tests => repeat_each() * 24;

run_tests();

__DATA__

=== a request with a body, and headers
--- main_config
env TEST_NGINX_DIR;
--- http_config
map $http_x_z $zed { default "zed"; }
--- config
location / {
    add_header X-A $request_method;
    add_header X-B "$TEST_NGINX_SERVER_PORT x";
    return 200 "$content_length $http_x_a $http_host $http_connection $uri\n";
}
--- request
# a comment
POST /a%20b
hello
--- more_headers
X-A: x
--- response_body
5 x localhost close /a b
--- response_headers
X-A: POST
! X-C
--- error_log
http request line
--- no_error_log
[error]
[alert]



=== several requests, the config of the block before
--- request eval
["POST /1\n" . "x" x 100, "GET /2"]
--- more_headers eval
["", "X-A: x"]
--- response_body eval
["100  localhost close /1\n", " x localhost close /2\n"]
--- error_code eval
[200, 200]



=== patterns
--- request
GET /
--- response_body_like
localh.*/
--- response_headers_like
X-B: \d+ x
--- raw_response_headers_unlike: X-Q
--- error_code_like: ^2..$



=== packets, and a status
--- config
location / { return 404; }
location /body { client_max_body_size 3; proxy_pass http://127.0.0.1:1; }
--- request eval
[["POST /body\nab", {value => "cd", delay_before => 0.05}], "GET /x"]
--- error_code eval
[413, 404]
--- response_body_like eval
["413", "404 Not Found"]



=== a raw request
--- config
location / { return 200 $http_x; }
--- raw_request eval
["GET / HTTP/1.1\r\nHost: a\r\nX: ", "y\r\nConnection: close\r\n\r\n"]
--- response_body chomp
y
--- timeout: 1500ms



=== a configuration that is refused
--- config
location / { return a b c d; }
--- request
GET /
--- must_die
--- error_log
invalid number of arguments in "return"
--- no_error_log
[crit]
