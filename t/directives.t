#!/usr/bin/perl

# docs/directives.md against the table of commands: every directive is there
# once, in the table's order and in nginx.org's form; contexts, numbers of
# arguments and defaults are those of the source, and nginx takes what the page
# says and nothing else.

use strict;
use warnings;

use Test::More;

use NgxQueues::Process qw/slurp spurt temp_dir/;
use NgxQueues::Server;
use NgxQueues::Tls;

my $top = $NgxQueues::Process::top;
my $page = slurp("$top/docs/directives.md");
my $conf = join '', map { slurp($_) } glob "$top/src/conf/*.c";

# the table: name, flags, setter, field

my @table;
my $module = slurp("$top/ngx_queues_module.c");

while ($module =~ m<
        \{\ ngx_string\("(\w+)"\),\s+ ([\w|\s]+?),\s+ (\w+),\s+
        (\w+),\s+ (?:0|offsetof\(\w+,\s*([\w.]+)\)),\s+ NULL\ \}>gx)
{
    push @table, { name => $1, setter => $3, offset => $4, field => $5,
                   flags => { map { $_ => 1 } split /\s*\|\s*/, $2 } };
}

cmp_ok(scalar @table, '>', 30, 'the table is read');

my @names = map { $_->{name} } @table;

# the page

my ($contents, $body) = $page =~ /^## Contents\n(.*?)^## Directives\n(.*)/ms;
my @headings = $body =~ /^### (.*)/mg;
my @listed = $contents =~ /\[(\w+)\]\(#\1\)/g;

is("@headings", "@names", 'every directive once, in the order of the table');
is("@listed", "@names", 'and so in the contents');
is(join(' ', grep { !/^queues_/ } $page =~ /^#+ (\w+_\w+)/mg), '',
   'no other has a heading');

my (%said, @form);

for my $section (split /^(?=### )/m, $body) {
    my ($name) = $section =~ /^### (\w+)$/m or next;

    my ($syntax, undef, $default, $contexts, $text) = $section =~ m<
        \A \#\#\# \ \w+\n\n
        Syntax: \ ((?: `[^`\n]+;`\\\n )+)
        Default:\ (?: (—) | `([^`\n]+;)` )\\\n
        Context:\ ( `\w+` (?: ,\ `\w+` )* )\n
        (?: \n | \z) (.*)>xs
        or push @form, $name and next;

    $said{$name} = {
        syntax => [$syntax =~ /`([^`]+);`/g], default => $default,
        contexts => join(' ', $contexts =~ /(\w+)/g), text => $text,
    };
}

is("@form", '', 'all have the three lines');

# how many arguments a syntax has: [optional], one | another, repeated ...

sub arguments {
    my ($name, $syntax) = @_;

    my ($min, $max, $optional) = (0, 0, 0);

    $syntax =~ s/^\Q$name\E(?: |$)// or die "the syntax of $name: $syntax";
    1 while $syntax =~ s/(\S+) \| \S+?(?=\]?(?: |$))/$1/;

    for (split / /, $syntax) {
        $optional = 1 if /^\[/;

        if (/^\.\.\./) {
            $max = 'inf';

        } else {
            $max++;
            $min++ if !$optional;
        }

        $optional = 0 if /\]$/ && !/\w\[/;
    }

    return ($min, $max);
}

is(join(' ', arguments('a', 'a')), '0 0', 'no arguments');
is(join(' ', arguments('a', 'a B | C[:D] | E')), '1 1', 'alternatives');
is(join(' ', arguments('a', 'a B[/C] ...')), '1 inf', 'repeated');
is(join(' ', arguments('a', 'a [b=N] [c=D/E ...]')), '0 inf', 'optional');
is(join(' ', arguments('a', 'a B [c | d] [e]')), '1 3', 'both');

my %takes = (
    NGX_CONF_NOARGS => '0 0', NGX_CONF_FLAG => '1 1', NGX_CONF_ANY => '0 inf',
    NGX_CONF_1MORE => '1 inf', NGX_CONF_2MORE => '2 inf',
    map { ("NGX_CONF_TAKE$_" => "$_ $_") } 1 .. 7
);

my %context = (
    http => 'NGX_HTTP_MAIN_CONF', server => 'NGX_HTTP_SRV_CONF',
    location => 'NGX_HTTP_LOC_CONF',
);

# what the source begins with, where nothing is configured: "" for nothing

sub initial {
    my ($d) = @_;

    my %of = (
        queues_redis_database => 'redis.database',
        queues_rate_limit => 'limits', queues_zone => 'zone_name',
        queues_push_max_deliveries => 'push.max',
        queues_push_header_prefix => 'push.header_prefix',
        queues_pubsub_max_delivery_attempts => 'max_attempts',
    );
    my $field = $d->{field} || $of{$d->{name}} or return '';

    # in functions of a part of the configuration: jwt->leeway

    my $place = join '|', map { quotemeta }
        "qmcf->$field", "conf->$field", $field =~ s/^(\w+)\./$1->/r;

    my ($value) = $conf =~ m!ngx_conf_(?:init|merge)_\w*value\((?:$place),
                             (?:\s+prev->[\w.]+,)? \s+ (\w+)\)!x;

    ($value) = $conf =~ m!if\ \((?:$place)\ ==\ NGX_CONF_UNSET\)\ \{\s+
                          (?:$place)\ =\ (\w+);!x if !defined $value;
    ($value) = $conf =~ m!if\ \((?:$place)\.(?:len\ ==\ 0|data\ ==\ NULL)\)
                          \ \{\s+ ngx_str_set\(&(?:$place),\ ("[^"]*")\);!x
        if !defined $value;

    # a flag that is never set asks for 1

    $value = 0 if !defined $value && $d->{flags}{NGX_CONF_FLAG}
                  && $conf =~ /(?:$place) [!=]= 1\b/
                  && $conf !~ /(?:$place) = (?!NGX_CONF_UNSET)/;

    return '' if !defined $value;

    $value = $1 if $value =~ /^NGX_QUEUES_/
                   && $conf =~ /^#define $value +(.*)/m;

    return $value;
}

sub written {
    my ($d, $default) = @_;

    my ($value) = $default =~ /^$d->{name} (.*);$/ or return "?? $default";

    return { on => 1, off => 0 }->{$value} if $d->{flags}{NGX_CONF_FLAG};
    return $1 * 1000 if $d->{setter} =~ /msec/ && $value =~ /^(\d+)s$/;
    return $1 if $d->{setter} =~ /_sec_/ && $value =~ /^(\d+)s$/;
    return 'NULL' if $value eq 'off';
    return $value if $value =~ /^\d+$/;
    return qq{"$value"};
}

my (@arguments, @contexts, @defaults, %custom);

for my $d (@table) {
    my $said = $said{$d->{name}} or next;
    my ($min, $max) = ('inf', 0);

    for my $syntax (@{ $said->{syntax} }) {
        my ($least, $most) = arguments($d->{name}, $syntax);

        $min = $least if $least < $min;
        $max = $most if $most > $max;
    }

    @$said{qw/min max/} = ($min, $max);

    # several flags: as many as any of them has

    my @takes = map { [split / /] } grep { defined }
                map { $takes{$_} } keys %{ $d->{flags} };
    my ($table_min) = (sort { $a <=> $b } map { $_->[0] } @takes) or die $d->{name};
    my ($table_max) = sort { $b <=> $a } map { $_->[1] } @takes;

    # with a setter that looks for itself the page may say less

    my $custom = $custom{$d->{name}} = $d->{setter} =~ /^ngx_queues_/ && $table_max eq 'inf';

    push @arguments, "$d->{name}: $min to $max, in the table $table_min to $table_max"
        if $min ne $table_min || !$custom && $max ne $table_max;
    push @arguments, "$d->{name} is a flag: on | off"
        if !!$d->{flags}{NGX_CONF_FLAG}
           != ("@{ $said->{syntax} }" eq "$d->{name} on | off");

    my $contexts = join ' ', grep { $d->{flags}{$context{$_}} }
                   qw/http server location/;

    push @contexts, "$d->{name}: $said->{contexts}, in the table $contexts"
        if $said->{contexts} ne $contexts;
    push @contexts, "$d->{name} is of another place in the table"
        if grep { /_CONF$/ && !{ reverse %context }->{$_} } keys %{ $d->{flags} };

    my $initial = initial($d);

    if (!defined $said->{default}) {
        push @defaults, "$d->{name}: none, in the source $initial"
            if $initial ne '';

    } elsif ($d->{name} eq 'queues_zone') {
        my ($bytes) = $conf =~ /^#define NGX_QUEUES_CONF_ZONE_SIZE +\((.*)\)/m;
        my ($name, $size) = $said->{default} =~ /^queues_zone (\w+) (\d+)m;$/;

        push @defaults, "queues_zone: $said->{default}"
            if qq{"$name"} ne $initial || $size * 1024 * 1024 != eval $bytes;

    } else {
        my $written = written($d, $said->{default}) // '??';

        push @defaults, "$d->{name}: $written, in the source $initial"
            if $written ne $initial;
    }
}

is(join("\n", @arguments), '', 'arguments as in the table');
is(join("\n", @contexts), '', 'contexts as in the table');
is(join("\n", @defaults), '', 'defaults as in the source');

# and nginx: a configuration of all that the page has

my $dir = temp_dir();
my $tls = NgxQueues::Tls->new->files('localhost');

chmod 0755, $dir;
spurt("$dir/text", 'a' x 48 . "\n");

system('openssl', qw/genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048
       -quiet -out/, "$dir/oidc.pem") == 0 or die 'openssl';

my %value = (
    queues_redis => '127.0.0.1:6379', queues_redis_user => 'queues',
    queues_redis_password_file => "$dir/text", queues_redis_database => '1',
    queues_redis_connect_timeout => '2s', queues_redis_timeout => '4s',
    queues_redis_replicas => '1 500ms',
    queues_redis_trusted_certificate => $tls->{ca},
    queues_redis_certificate => $tls->{certificate},
    queues_redis_certificate_key => $tls->{key},
    queues_secret_file => "$dir/text", queues_api_keys => '/dev/null',
    queues_jwt_key => "$dir/text", queues_jwt_issuer => 'https://id.test/',
    queues_jwt_audience => 'queues', queues_jwt_leeway => '10s',
    queues_jwt_roles_claim => 'scope', queues_oidc_key => "$dir/oidc.pem",
    queues_oidc_issuer => 'https://queues.test',
    queues_push_allow_address => '10.0.0.0/8',
    queues_push_allow_host => '.internal',
    queues_push_allow_port => '8443',
    queues_push_trusted_certificate => $tls->{ca},
    queues_push_max_deliveries => '16', queues_push_header_prefix => 'Acme',
    queues_zone => 'other 1m', queues_rate_limit => 'queue=5/s',
    queues_queen_api => 'acme/shop', queues_pubsub_api => 'acme',
    queues_pubsub_max_delivery_attempts => '5',
);

spurt("$dir/keys", '');
$value{queues_api_keys} = "$dir/keys";

sub line {
    my ($name, $value) = @_;

    return "$name $value;" if defined $value;
    return "$name on;" if "@{ $said{$name}{syntax} }" =~ / on \| off$/;
    return "$name;" if $said{$name}{min} == 0;

    die "$0: a value for $name, please";
}

# %more: what stands where, instead

my $s = NgxQueues::Server->new(start => 0, redis => 0, queues => 0);

sub nginx {
    my (%more) = @_;

    my (%in, @locations);

    for my $name (@headings) {
        my $line = $more{$name} // line($name, $value{$name});

        for my $context (split / /, $said{$name}{contexts}) {
            if ($said{$name}{contexts} eq 'location') {
                push @locations, "location /$name/ { $line }";

            } else {
                $in{$context} .= "$line\n";
            }
        }
    }

    $s->configure(
        http => "resolver 127.0.0.1;\n$in{http}", server => $in{server} // '',
        locations => join("\n", @locations,
            'location / { queues_api; ' . ($in{location} // '') . ' }'));

    return $s->test_configuration;
}

my ($right, $text) = nginx();

ok($right, 'nginx takes all of it') or diag($text);

($right, $text) = nginx(map { $_ => $said{$_}{default} }
                        grep { defined $said{$_}{default}
                               && $_ ne 'queues_redis_tls' } @headings);

ok($right, 'and the defaults, when they are written') or diag($text);

my (@once, @more, @few);

for my $name (@headings) {
    my $line = line($name, $value{$name});
    my $several = $said{$name}{text} =~ /May\s+be\s+given\s+several\s+times
                                         |may\s+be\s+given\s+several\s+times/x;

    ($right, $text) = nginx($name => "$line $line");

    # of several files each has keys of its own

    push @once, "$name: " . ($right ? 'twice' : $text)
        if $right && !$several
           || !$right && $text !~ ($several ? qr/write each key once/
                                            : qr/duplicate/);

    # the others' numbers are counted by nginx itself

    next if $said{$name}{max} eq 'inf' || !$custom{$name};

    my $many = $line =~ s/;$/' other' x ($said{$name}{max} + 1) . ';'/er;

    ($right, $text) = nginx($name => $many);
    push @more, $name if $right;

    next if $said{$name}{min} == 0;

    ($right, $text) = nginx($name => "$name;");
    push @few, $name if $right;
}

is(join("\n", @once), '',
   'once, but for what the page says may be given several times');
is("@more", '', 'more arguments are refused');
is("@few", '', 'none where there should be are refused');

done_testing;
