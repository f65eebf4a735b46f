#!/usr/bin/perl

# The packages of "make deb" in a Debian that has nothing else of ours:
# docs/packages.md, line by line, with what holds between its lines.

use strict;
use warnings;

use File::Basename;
use Test::More;

use NgxQueues::Process qw/slurp spurt temp_dir/;
use NgxQueues::Root;
use NgxQueues::Wait;

my $top = $NgxQueues::Process::top;
my $dir = temp_dir();
my $module = 'libnginx-mod-http-queues';
my $link = '/etc/nginx/modules-enabled/50-mod-http-queues.conf';

my ($version) = slurp("$top/src/base/ngx_queues_base_version.h") =~ /"(.+)"/;
my @packages = grep { !/-dbgsym_/ } glob "$top/build/deb/*.deb";

is(join(' ', map { basename($_) =~ s/_[^_]*$//r } @packages),
   "${module}_$version queuectl_$version", 'the packages, of this version')
    or BAIL_OUT('make deb');

for my $package (@packages) {
    system('dpkg-deb', '-x', $package, "$dir/files") == 0 or die "$package: $?";
}

for my $file (qw{usr/lib/nginx/modules/ngx_queues_module.so usr/bin/queuectl}) {
    like(`readelf -d $dir/files/$file`, qr/BIND_NOW/, "$file is hardened");
}

my $root = NgxQueues::Root->new(archive => "$top/build/deb/root.tar");

# the lines of a block of docs/packages.md, the Nth of its section

sub lines {
    my ($section, $n) = @_;

    my ($text) = slurp("$top/docs/packages.md") =~ /^## \Q$section\E\n(.*?)(?=^## |\z)/ms;
    my @blocks = $text =~ /^```sh\n(.*?)^```$/msg;

    return split /\n/, $blocks[$n] // die "$section has no block $n\n";
}

sub sh {
    my ($line, $seconds) = @_;

    if (!is($root->run("set -o pipefail; $line", $seconds), 0, $line)) {
        diag($root->out);
        BAIL_OUT('the next line needs this one');
    }

    return $root->out;
}

sub page { join '', map { sh($_, 120) } lines(@_) }

sub said {
    my ($script) = @_;

    $root->run($script);
    chomp(my $out = $root->out);

    return $out;
}

# what nginx is, a line for each process: its number, and whether it has the
# module as it is on disk (new), from a file that is gone (old), or not

my $processes = <<'END';
cd /proc
for pid in [0-9]*; do
    case $(tr '\0' ' ' <$pid/cmdline) in
        nginx:*)
            if grep -q 'ngx_queues_module.so$' $pid/maps; then echo $pid new
            elif grep -q 'ngx_queues_module.so (deleted)$' $pid/maps; then echo $pid old
            else echo $pid none; fi ;;
    esac
done 2>/dev/null
END

# waits until each process has it so, and as many of them as said are those of
# the last time: the master, where nginx has been reloaded, and none where it has
# been started anew

my %known;

sub have {
    my ($what, $same, $name) = @_;

    my $now;

    ok(wait_for(sub {
        $now = said($processes);

        return $now =~ /\A(?:\d+ $what(?:\n|\z))+\z/
               && $same == grep { $known{$_} } $now =~ /^(\d+)/mg;
    }, 30), $name) or diag($now, "\n", said('tail /var/log/nginx/error.log'));

    %known = map { $_ => 1 } $now =~ /^(\d+)/mg;
}

# all that there is, but for what logs, caches and data are kept in

sub files {
    my @but = qw{/proc /sys /dev /tmp /run /root /var/log /var/cache /var/lib/apt
                 /var/lib/redis /etc/redis /var/lib/dpkg/triggers
                 /var/lib/dpkg/lock* /var/lib/dpkg/status*
                 /var/lib/dpkg/available*};

    return said('find / \( ' . join(' -o ', map { "-path '$_'" } @but)
                . ' \) -prune -o ! -type d -printf "%p %m %u %l\n"'
                . ' -o -printf "%p %m %u\n" | LC_ALL=C sort');
}

# a Debian with nginx and Redis that has just started, and whose services packages
# may reload as if it had an init; it has no IPv6 where this machine has none

sh('[ -e /proc/net/if_inet6 ] || rm /etc/nginx/sites-enabled/default');
sh(q{echo 'APT::Get::Assume-Yes "true";' > /etc/apt/apt.conf.d/yes});
sh(q{printf '#!/bin/sh\nexit 0\n' > /usr/sbin/policy-rc.d
     chmod 755 /usr/sbin/policy-rc.d});
sh('service redis-server start');
sh('service nginx start');

have('none', 0, 'nginx without the module');

my $before = files();

cmp_ok(length($before), '>', 100_000, 'there are files');

# install

is((lines('Build', 0))[0] =~ s/ .*//r, 'make', 'the packages are those of make');
$root->copy(@packages);
page('Install', 0);
have('new', 1, 'nginx has been reloaded with the module');
is(said("readlink -f $link; cat $link"),
   "/usr/share/nginx/modules-available/mod-http-queues.conf\n"
   . 'load_module modules/ngx_queues_module.so;', 'by the link of its package');
is(said('ls /etc/nginx | grep queues'), '', 'no secret has been made');

for my $path (slurp("$top/docs/packages.md") =~ m{`(/(?:usr|etc)/[^`]+)`}g,
              '/usr/share/man/man1/queuectl.1.gz',
              '/usr/share/bash-completion/completions/queuectl',
              map { "/usr/share/doc/$module/$_" }
                  'README.md', map { s{^\Q$top/}{}r } glob "$top/docs/*.md
                  $top/docs/*/*.md $top/docs/examples/*")
{
    is(said("[ -e $path ] || echo none"), '', $path);
}

like(sh('queuectl --version'), qr/^queuectl \Q$version\E /, 'queuectl');

# set up, and try

page('Install', 1);
is(said('stat -c "%U %a" /etc/nginx/queues.* ~/queues.key'),
   join("\n", ('root 600') x 3), 'who can read the secrets');
have('new', 1, 'it has been reloaded');
page('Install', 2);
like(page('Install', 3), qr/^hello$/m, 'a message goes through');

# another version: the code is that of the process

sh('queuectl send first kept');

for my $package (@packages) {
    my $next = "$dir/" . (basename($package) =~ s/_\Q$version\E_/_$version+next_/r);

    system("dpkg-deb -R $package $dir/next"
           . " && sed -i 's/^Version: .*/&+next/' $dir/next/DEBIAN/control"
           . " && dpkg-deb --root-owner-group -Znone -b $dir/next $next >/dev/null"
           . " && rm -r $dir/next") == 0 or die "$next: $?";
    $root->copy($next);
}

sh('rm ' . join ' ', map { basename($_) } @packages);

my ($install, $upgrade) = lines('Upgrade', 0);

like($install, qr/^apt-get install /, 'an upgrade');
sh($install, 120);
is(said("dpkg-query -W -f '\${Version}' $module"), "$version+next", 'is installed');
have('old', 1, 'a reload goes on with the code that there was');
sh($upgrade);
have('new', 0, 'until nginx has taken over from itself');
is(sh('queuectl receive first --ack --raw'), "kept\n", 'what was sent is there');

# without what it needs it stays away, and comes back with it

sh("dpkg --remove $module");
isnt($root->run('nginx -t'), 0, 'a configuration that needs the module');
sh('queuectl send first again');
is(sh('queuectl receive first --ack --raw'), "again\n", 'does not end the nginx that has it');
sh("dpkg -i ${module}_*.deb");
sh('nginx -t');

# remove

page('Remove', 0);
have('none', 1, 'nginx has no module any more');
sh('service nginx restart');

my $after = files();
my %was = map { $_ => 1 } split /\n/, $before;
my %left = map { $_ => 1 } split /\n/, $after;

is(join("\n", grep { !$was{$_} } split /\n/, $after), '', 'nothing of ours is left');
is(join("\n", grep { !$left{$_} } split /\n/, $before), '',
   'and nothing else is missing');
is(said("dpkg-query -W -f '\${db:Status-Status}\n' $module queuectl 2>/dev/null"
        . ' | grep -v not-installed'), '', 'to dpkg too');

$root->finish;
done_testing;
