package NgxQueues::Docs;

# The pages for readers, README.md and docs/**/*.md, as blocks of code, and which
# test runs which. By its kind (the word after the fence) t/docs.t runs
#
#     sh       all of a page, in order, in one shell against a broker of its own
#              (NgxQueues::Docs::Shell says what is replaced); each line must
#              work, and curl is answered with 2xx, unless it is "curl -i"
#     nginx    nginx -t, in the context that it needs (NgxQueues::Docs::Nginx)
#     json     behind a block of sh, under its heading: its shape is that of what curl was
#              answered with last (NgxQueues::Docs::Shape)
#     keys     a file of queues_api_keys, which nginx -t reads
#     yaml     a configuration of Prometheus, or rules; promql: an expression a
#              line: promtool
#     text     nothing: for what is only to be read
#
# All else, and what a page needs a flow of its own for, is run by the test that
# @elsewhere names; code of a guide is a file beside it, as it is there.

use strict;
use warnings;

use Exporter 'import';
use File::Find ();

use NgxQueues::Process 'slurp';

our @EXPORT_OK = qw/pages blocks block elsewhere program/;

my $top = $NgxQueues::Process::top;

# page, kind, what all such blocks have in them, the test that runs them

our @elsewhere = (
    ['README.md', 'sh', qr/^(?:q |make run|KEY=…|L=|T=)/m, 't/run.t'],
    ['docs/queuectl.md', 'sh', qr/./, 't/cli_docs.t'],
    ['docs/packages.md', 'sh', qr/./, 't/deb/packages.t'],
    (map { ["docs/examples/$_/README.md", 'sh', qr/./, 't/examples.t'] }
         qw/one-server tls-http2 several-nodes two-hosts systemd/),
    ['docs/operations.md', 'sh', qr/head -n -1/, 't/examples.t'],
    ['docs/operations.md', 'sh',
     qr/appendonly no|rewrite-percentage 0|appendonlydir/, 't/backup.t'],
    ['docs/redis.md', 'redis', qr/^ACL SETUSER/, 't/redis_acl.t'],
    ['docs/api/queues.md', 'python', qr/^class Endpoint/m, 't/run.t'],
    ['docs/api/queues.md', 'http', qr/^EZGH-Signature/m, 't/docs_shapes.t'],
    ['docs/api/queues.md', 'json', qr/"deliveryId"|"delaySeconds"/,
     't/docs_shapes.t'],
    ['docs/api/queen.md', 'json', qr/"leaseId"|"noop"|"type"|"lease_expires_at"/,
     't/docs_shapes.t'],
    ['docs/api/queen.md', 'json', qr/"leaseTime"|"pagination"|"next"/,
     't/docs_shapes.t'],
    ['docs/api/pubsub.md', 'json', qr/"error"|"updateMask"|"ackId"|"noWrapper"/,
     't/docs_shapes.t'],
    ['docs/api/pubsub.md', 'http', qr/^POST/, 't/docs_shapes.t'],
    ['docs/api/pubsub.md', 'js', qr/^import /m, 't/pubsub_client.t'],
    ['docs/api/pubsub.md', 'js', qr/^const \[\{ messageIds/m, 't/docs_shapes.t'],
    ['docs/auth.md', 'json', qr/"roles"/, 't/docs_shapes.t'],
);

# what a page is to have before its first line: shell text, by page; and what
# its broker has besides the three APIs

our %before = ();
our %server = (
    'docs/auth.md' => { http => 'queues_jwt_key /etc/nginx/queues.jwt;' },
);

sub pages {
    my @pages = 'README.md';

    File::Find::find({ no_chdir => 1, wanted => sub {
        push @pages, s{^\Q$top/}{}r if /\.md\z/;
    } }, "$top/docs");

    return sort @pages;
}

# the blocks of a page: { page, line, kind, text, after: the one before, under the
# same heading }

sub blocks {
    my ($page) = @_;

    my (@blocks, $fence, $between);
    my $line = 0;

    for (split /^/, slurp("$top/$page")) {
        $line++;

        if (!$fence) {
            if (my ($indent, $mark, $kind) = /^(\s*)(```+)\s*(\w*)\s*$/) {
                $fence = $mark;
                push @blocks, {
                    page => $page, line => $line, kind => $kind, text => '',
                    indent => $indent,
                    after => @blocks && $between !~ /^#/m
                        ? $blocks[-1] : undef,
                };
            } else {
                $between .= $_;
            }

        } elsif (/^\s*\Q$fence\E\s*$/) {
            ($fence, $between) = (undef, '');

        } else {
            $blocks[-1]{text} .= s/^$blocks[-1]{indent}//r;
        }
    }

    die "$page: the block of line $blocks[-1]{line} does not end\n" if $fence;

    return @blocks;
}

# the one block of a page that has this

sub block {
    my ($page, $has) = @_;

    my @found = grep { $_->{text} =~ $has } blocks($page);

    die "$page has " . @found . " blocks with $has\n" if @found != 1;

    return $found[0]{text};
}

# the rule of @elsewhere for a block

sub elsewhere {
    my ($block) = @_;

    for (@elsewhere) {
        my ($page, $kind, $has) = @$_;

        return $_ if $page eq $block->{page} && $kind eq $block->{kind}
                     && $block->{text} =~ $has;
    }

    return undef;
}

# the file beside a guide that has this text, whole: docs/guides/queues.md shows
# those of docs/guides/queues/

sub program {
    my ($block) = @_;

    my $dir = $block->{page} =~ s/\.md\z//r;

    for (glob "$top/$dir/*") {
        return s{^\Q$top/}{}r if -f && slurp($_) eq $block->{text};
    }

    return undef;
}

1;
