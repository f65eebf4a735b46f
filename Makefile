# ngx_queues: see "make help". GNU make, bash, Debian's nginx.

SHELL := /bin/bash
.DELETE_ON_ERROR:

BUILD   := $(CURDIR)/build
MODULE  := $(BUILD)/ngx_queues_module.so

NGINX_BINARY ?= /usr/sbin/nginx
NGINX_DEV    ?= /usr/share/nginx/src
CC           ?= cc

# -W, -Wall and -Werror come from nginx's configure
CC_OPT := -O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2 \
          -Wformat -Werror=format-security
LD_OPT := -Wl,-z,relro -Wl,-z,now

SANITIZE := $(BUILD)/sanitize
REPORT   := $(SANITIZE)/report

# -g1 is enough for stack traces, and a quarter less to compile

SANITIZE_CC_OPT := -O1 -g1 -fno-omit-frame-pointer \
                   -fsanitize=address,undefined \
                   -fno-sanitize=nonnull-attribute -DNGX_DEBUG_PALLOC=1

# as shared libraries, gcc's two do not share log_path

SANITIZE_LD_OPT := -fsanitize=address,undefined \
                   -static-libasan -static-libubsan

# for nginx's own makefiles, unless make has been given -j itself
PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# how Debian packages that are missing are installed; ":": not at all
MISSING ?= t/tools/install

# what prove is to run; for one file: make test TESTS=t/00-build.t. Those that
# take long begin first, so that none of them is left for the end; before those
# that work much those that wait much, and look at moments.

LONG  := $(patsubst %,t/%.t,soak_push registry maintenance \
             pubsub_push_switch soak push_lost pubsub_pull pubsub_push_retry \
             pubsub_dead_letter redis_away queen_histories dashboard fuzz unit \
             redis_log_planted redis_model replicas redis_wrong_types push_dns)

ordered = $(filter $(1),$(LONG)) $(filter-out $(LONG),$(sort $(1)))

TESTS ?= $(call ordered,$(wildcard t/*.t))

# the server that they start
REDIS_SERVER ?= redis-server
export REDIS_SERVER

# So many at once, on two cores too: tests wait half of their time. More of them
# get in the way of those that are about moments; under sanitizers these have
# three times as long.

JOBS  := 5
PROVE  = PERL5OPT='-I$(CURDIR)/t/lib -MNgxQueues::Warnings' \
         prove -r --timer -j$(JOBS) -It/lib

.PHONY: all help queuectl run test valkey sanitize fuzz soak bench install clean
.PHONY: deb deb-ready deb-test install-deb
.PHONY: install-build install-cli install-run install-test install-fuzz
.PHONY: install-queuectl FORCE

# the command line is built with the module where its libraries are there

CLI_HERE := $(and $(wildcard /usr/include/curl/curl.h \
                             /usr/include/*/curl/curl.h), \
                  $(wildcard /usr/include/cjson/cJSON.h))

all: $(MODULE) $(if $(CLI_HERE),queuectl)

help:
	@echo 'make            build/ngx_queues_module.so, for the nginx of Debian'
	@echo 'make queuectl   build/queuectl, the command line'
	@echo 'make run        build, and run it with a Redis of its own: PORT, RUN_DIR'
	@echo 'make test       build, and run all tests: TESTS=FILES for some of them'
	@echo '                REDIS_SERVER=valkey-server: on another one'
	@echo 'make valkey     those that concern Redis, on Valkey where it can be had'
	@echo 'make sanitize   the same tests on an nginx with ASan and UBSan'
	@echo 'make fuzz       fuzz the parsers, FUZZ_TIME=60 seconds each: FUZZ=NAMES'
	@echo 'make soak       traffic for three minutes while Redis and workers die'
	@echo 'make bench      measure'
	@echo 'make install    the module into DESTDIR/usr/lib/nginx/modules, and what'
	@echo '                is there of queuectl into DESTDIR/usr'
	@echo 'make deb        Debian packages of both, in build/deb'
	@echo 'make deb-test   install, use and remove them in a clean Debian'
	@echo 'make clean      remove build/'
	@echo 'Missing Debian packages are installed first (by sudo where not root).'


# The module. build/inputs changes when the set of files, config or nginx
# does, and only then is configure run again; nginx's own makefile knows what
# to compile.

install-build:
	@$(MISSING) build

$(BUILD)/inputs: install-build FORCE
	@mkdir -p $(BUILD)
	@{ cat config; \
	   find ngx_queues_module.c src redis -name '*.[ch]' -o -name '*.lua' \
	       -o -path 'src/dashboard/*.*' | LC_ALL=C sort; \
	   dpkg-query -W nginx-dev libhiredis-dev libssl-dev; \
	   echo '$(CC) $(CC_OPT) $(LD_OPT)'; \
	   echo '$(SANITIZE_CC_OPT) $(SANITIZE_LD_OPT)'; } > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BUILD)/objs/Makefile: $(BUILD)/inputs
	@rm -rf $(BUILD)/objs
	cd $(NGINX_DEV) && . ./conf_flags && bash ./configure \
	    "$${NGX_CONF_FLAGS[@]}" \
	    --with-cc='$(CC)' --with-cc-opt='$(CC_OPT)' \
	    --with-ld-opt='$(LD_OPT)' \
	    --add-dynamic-module=$(CURDIR) --builddir=$(BUILD)/objs \
	    > $(BUILD)/configure.log 2>&1 \
	    || { tail -n 20 $(BUILD)/configure.log; rm -f $@; exit 1; }

# never written over: an nginx that runs has it in its memory

$(MODULE): $(BUILD)/objs/Makefile FORCE
	@$(MAKE) --no-print-directory $(PARALLEL) -f $(BUILD)/objs/Makefile \
	    -C $(NGINX_DEV) modules
	@cmp -s $(BUILD)/objs/ngx_queues_module.so $@ \
	    || { cp $(BUILD)/objs/ngx_queues_module.so $@.new && mv $@.new $@; }


# The command line: C and three libraries, no nginx.

QUEUECTL := $(BUILD)/queuectl

CLI_SOURCES := $(wildcard src/cli/*.c)
CLI_HEADERS := $(wildcard src/cli/*.h) src/base/ngx_queues_base_version.h
CLI_CC_OPT  := -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror
CLI_LIBS    := -lcurl -lcjson -lcrypto

# a libcurl with another TLS library does as well: it is not replaced

install-cli:
	@$(MISSING) build $(if $(CLI_HERE),,cli)

queuectl: $(QUEUECTL)

$(QUEUECTL): $(CLI_SOURCES:src/cli/%.c=$(BUILD)/cli/%.o)
	$(CC) $(LD_OPT) $^ $(CLI_LIBS) -o $@.new && mv $@.new $@

$(BUILD)/cli/%.o: src/cli/%.c $(CLI_HEADERS) | install-cli
	@mkdir -p $(@D)
	$(CC) $(CC_OPT) $(CLI_CC_OPT) -c $< -o $@


install-run:
	@$(MISSING) run

run: install-run $(MODULE)
	@NGINX_BINARY='$(NGINX_BINARY)' MODULE='$(MODULE)' t/tools/run


install-test:
	@$(MISSING) test $(if $(CLI_HERE),,cli)

test: install-test $(MODULE) queuectl
	@TEST_NGINX_BINARY='$(NGINX_BINARY)' NGX_QUEUES_MODULE='$(MODULE)' \
	    $(PROVE) $(TESTS)

VALKEY_TESTS ?= $(call ordered,$(wildcard t/redis*.t) t/replicas.t t/history.t)

# Histories by chance look for faults of the functions, and their seeds differ
# from run to run: all of them are on Redis, and fewer here.

valkey: install-test $(MODULE)
	@if server=$$(t/tools/valkey '$(BUILD)/valkey'); then \
	    $$server --version; \
	    MODEL_HISTORIES=$${MODEL_HISTORIES:-300} \
	        REDIS_SERVER=$$server TEST_NGINX_BINARY='$(NGINX_BINARY)' \
	        NGX_QUEUES_MODULE='$(MODULE)' $(PROVE) $(VALKEY_TESTS); \
	else \
	    echo 'Tests on Valkey are skipped'; \
	fi


# The tests once more, but for those that run no nginx, or have sanitizers of
# their own, or are of programs, configurations and pages that readers are given
# or of clients that others made, in a static nginx of the same version with
# sanitizers.
# A finding is written to build/sanitize/report.* and fails the run. nginx' own
# unaligned loads, meant so on this kind of machine, are no finding.  Of
# histories by chance, which look for faults of the functions in Redis, fewer
# take the same ways in C.

NO_NGINX  = $(wildcard t/00-*.t t/docs_guides_*.t) t/unit.t t/fuzz.t \
            t/backup.t t/cli_docs.t t/cli_help.t t/dashboard.t t/directives.t \
            t/docs.t t/examples.t t/log_lines.t t/push_clients.t t/pubsub_client.t \
            t/pubsub_oidc_client.t t/queen_client.t \
            $(shell grep -l 'NgxQueues::Functions::start' t/*.t)

sanitize: JOBS = 6
sanitize: install-test $(SANITIZE)/nginx $(SANITIZE)/queuectl
	@rm -f $(REPORT).*
	@QUEEN_HISTORIES=$${QUEEN_HISTORIES:-300} \
	    TEST_NGINX_BINARY='$(SANITIZE)/nginx' NGX_QUEUES_MODULE= \
	    NGX_QUEUES_SANITIZE='$(REPORT)' \
	    NGX_QUEUES_CLI='$(SANITIZE)/queuectl' \
	    ASAN_OPTIONS='detect_leaks=0:log_path=$(REPORT)' \
	    UBSAN_OPTIONS='print_stacktrace=1:suppressions=$(CURDIR)/t/tools/ubsan.supp:log_path=$(REPORT)' \
	    $(PROVE) $(filter-out $(NO_NGINX),$(TESTS)); result=$$?; \
	if compgen -G '$(REPORT).*' >/dev/null; then \
	    echo 'Sanitizer reports:'; cat $(REPORT).*; result=1; \
	fi; exit $$result

$(SANITIZE)/queuectl: $(CLI_SOURCES) $(CLI_HEADERS) | install-cli
	@mkdir -p $(SANITIZE)
	$(CC) $(filter-out -DNGX_%,$(SANITIZE_CC_OPT)) $(CLI_CC_OPT) \
	    $(SANITIZE_LD_OPT) $(CLI_SOURCES) $(CLI_LIBS) -o $@.new && mv $@.new $@

$(SANITIZE)/nginx: $(SANITIZE)/src/objs/Makefile FORCE
	@$(MAKE) --no-print-directory $(PARALLEL) -C $(SANITIZE)/src build
	@cmp -s $(SANITIZE)/src/objs/nginx $@ \
	    || { cp $(SANITIZE)/src/objs/nginx $@.new && mv $@.new $@; }

# nginx is compiled anew only where configure has found something new: where it
# writes the same headers, the old ones are put back, with their old times

KEPT := $(SANITIZE)/src/objs/ngx_auto_config.h \
        $(SANITIZE)/src/objs/ngx_auto_headers.h

$(SANITIZE)/src/objs/Makefile: $(BUILD)/inputs $(SANITIZE)/src/configure
	@for file in $(KEPT); do \
	    if [ -e $$file ]; then cp -p $$file $$file.kept; fi; \
	done
	cd $(SANITIZE)/src && ./configure --with-cc='$(CC)' --with-debug \
	    --with-http_ssl_module --with-http_v2_module \
	    --with-http_realip_module --with-http_stub_status_module \
	    --with-cc-opt='$(SANITIZE_CC_OPT)' \
	    --with-ld-opt='$(SANITIZE_LD_OPT)' \
	    --add-module=$(CURDIR) > $(SANITIZE)/configure.log 2>&1 \
	    || { tail -n 20 $(SANITIZE)/configure.log; rm -f $@; exit 1; }
	@for file in $(KEPT); do \
	    if cmp -s $$file $$file.kept; then mv $$file.kept $$file; fi; \
	done

$(SANITIZE)/src/configure: | install-build
	t/tools/source $(SANITIZE)


# Each t/fuzz/NAME.c is a target, for the libFuzzer of clang. t/fuzz.t runs the
# same ones over their corpora with whatever compiler there is.

FUZZ      ?= $(filter-out main,$(patsubst t/fuzz/%.c,%,$(wildcard t/fuzz/*.c)))
FUZZ_TIME ?= 60
FUZZ_CC   ?= clang

FUZZ_CC_OPT := -O1 -g -fno-omit-frame-pointer \
               -fsanitize=fuzzer,address,undefined \
               -fno-sanitize-recover=undefined

FUZZ_INCS := $(addprefix -I,$(BUILD)/objs src/base \
             $(addprefix $(NGINX_DEV)/src/,core event event/modules os/unix))

install-fuzz:
	@$(MISSING) build fuzz

fuzz: $(addprefix $(BUILD)/fuzz/,$(FUZZ))
	@BUILD='$(BUILD)' FUZZ_TIME='$(FUZZ_TIME)' t/fuzz/run $(FUZZ)

$(BUILD)/fuzz/%: t/fuzz/%.c $(wildcard t/fuzz/*.h src/*/*.[ch]) \
                 $(BUILD)/objs/Makefile | install-fuzz
	@mkdir -p $(BUILD)/fuzz
	$(FUZZ_CC) $(FUZZ_CC_OPT) $(FUZZ_INCS) $< src/base/*.c \
	    -lcrypto -l:libhiredis.a -o $@


soak: install-test $(MODULE)
	@export TEST_NGINX_BINARY='$(NGINX_BINARY)' NGX_QUEUES_MODULE='$(MODULE)'; \
	    t/soak/run && t/soak/push

bench: install-test $(MODULE)
	@NGINX_BINARY='$(NGINX_BINARY)' MODULE='$(MODULE)' t/bench/run

install: $(MODULE) $(if $(CLI_HERE),install-queuectl)
	install -d $(DESTDIR)/usr/lib/nginx/modules
	install -m 644 $(MODULE) $(DESTDIR)/usr/lib/nginx/modules/

install-queuectl: $(QUEUECTL)
	install -D -m 755 $(QUEUECTL) $(DESTDIR)/usr/bin/queuectl
	install -D -m 644 docs/queuectl.1 \
	    $(DESTDIR)/usr/share/man/man1/queuectl.1
	install -D -m 644 docs/queuectl.bash \
	    $(DESTDIR)/usr/share/bash-completion/completions/queuectl


# Debian packages, and a test of them in a Debian that is made for it

DEB := $(BUILD)/deb

install-deb:
	@$(MISSING) build deb $(if $(CLI_HERE),,cli)

DEB_SOURCES := config LICENSE Makefile README.md ngx_queues_module.c t/tools/deb \
               $(shell find src redis docs -type f)

deb: $(DEB)/built

$(DEB)/built: $(DEB_SOURCES) | install-deb
	@t/tools/deb '$(DEB)'
	@touch $@

$(DEB)/root.tar: t/tools/deb_root | install-deb
	@t/tools/deb_root '$@'

# the one waits for the network, the other does not

deb-ready: install-deb
	@$(MAKE) --no-print-directory -j2 deb $(DEB)/root.tar

deb-test: deb-ready
	@$(PROVE) t/deb/packages.t

clean:
	rm -rf $(BUILD)
