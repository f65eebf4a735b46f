#!/usr/bin/perl

# Filters: what does not match is never delivered, nor does it count.

use strict;
use warnings;
use utf8;

use Test::More;

use NgxQueues::Pubsub;

my $s = NgxQueues::Pubsub::server();
my $p = NgxQueues::Pubsub->new($s);

my %filters = (
    has => 'attributes:lang',
    en => 'attributes.lang = "en"',
    other => 'attributes.lang != "en"',
    prefix => 'hasPrefix(attributes.lang, "e")',
    none => 'NOT attributes:lang',
    minus => '-attributes:lang',
    both => 'attributes.lang = "en" AND attributes:b',
    either => 'attributes.lang = "en" OR attributes:b',
    nested => '(attributes.lang = "en" OR attributes.lang = "es") AND NOT '
              . 'attributes:b',
    quoted => 'attributes:"a key"',
    text => 'attributes.lang = "ключ \"x\""',
    all => '',
);

my @messages = (
    { lang => 'en' }, { lang => 'es' }, { lang => 'de', b => '' },
    { lang => 'en', b => 'x' }, {}, { 'a key' => '1' }, { lang => '' },
    { lang => 'ключ "x"' }, { b => '1' },
);

my %match = (
    has => '0 1 2 3 6 7', en => '0 3', other => '1 2 4 5 6 7 8',
    prefix => '0 1 3', none => '4 5 8', minus => '4 5 8', both => '3',
    either => '0 2 3 8', nested => '0 1', quoted => '5', text => '7',
    all => '0 1 2 3 4 5 6 7 8',
);

$p->topic('topic');

for (sort keys %filters) {
    $p->sub("f-$_", 'topic', length $filters{$_} ? (filter => $filters{$_}) : ());
    is($p->get('subscriptions', "f-$_")->{json}{filter} // '', $filters{$_},
       "$_: the filter is kept");
}

# in one request, and each in one of its own

my @sent = map { { %{ NgxQueues::Pubsub::message("$_") },
                   attributes => $messages[$_] } } 0 .. $#messages;

$p->publish('topic', @sent);

for (sort keys %filters) {
    my @m = $p->pull("f-$_", 100);

    is(NgxQueues::Pubsub::data(@m), $match{$_}, $_);
    $p->ack("f-$_", @m);
}

$p->publish('topic', $_) for @sent;

for (sort keys %filters) {
    my @m = $p->pull("f-$_", 100);

    is(NgxQueues::Pubsub::data(@m), $match{$_}, "$_: one by one");
    $p->ack("f-$_", @m);
    is(scalar $p->pull("f-$_", 100), 0, "$_: and no more");
}

# the value may come escaped, the message stays as it is

$p->publish('topic', { data => 'YQ==', attributes => { lang => 'en' } });

my $r = $p->client->post($p->path('topics', 'topic', 'publish'),
    '{"messages":[{"data":"Yg==","attributes":{"l\u0061ng":"\u0065\u006e"}}]}');

is($r->{status}, 200, 'escaped');
is(NgxQueues::Pubsub::data($p->pull('f-en', 10)), 'a b', 'and compared decoded');

$s->finish;

done_testing;
