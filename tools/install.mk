# SPDX-License-Identifier: MIT
# What goes where, and the Debian packages.  Included by the root Makefile.

D := $(DESTDIR)$(PREFIX)
L := $(DESTDIR)$(LIBDIR)
Z := $(DESTDIR)$(ZSHDIR)
MANUALS := $(wildcard doc/*.[1-8])
SCHEMAS := $(wildcard doc/*.schema.json)
EXAMPLES := $(wildcard examples/*)
DOCS := $(wildcard doc/*.md doc/*.png)
# Each as DIRECTORY/NAME, for both directions.
INSTALLED := $(D)/bin/cachepeek $(L)/libcachepeek.so $(L)/pkgconfig/cachepeek.pc \
	$(L)/cmake/cachepeek/cachepeek-config.cmake \
	$(L)/cmake/cachepeek/cachepeek-config-version.cmake \
	$(D)/include/cachepeek.h $(Z)/_cachepeek \
	$(D)/share/bash-completion/completions/cachepeek \
	$(D)/share/fish/vendor_completions.d/cachepeek.fish \
	$(foreach m,$(MANUALS),$(D)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m))
INSTALLED_DIRECTORIES := $(L)/libcachepeek $(D)/share/cachepeek $(D)/share/doc/cachepeek

# What tells other builds where it is, and in which version.
FOUND_BY := $(B)/cachepeek.pc $(B)/cachepeek-config.cmake $(B)/cachepeek-config-version.cmake
$(FOUND_BY): $(B)/%: tools/%.in FORCE
	@mkdir -p $(@D)
	@sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

# The library is found by name, from any directory, once ld.so knows it.
.PHONY: install uninstall
install: all $(FOUND_BY) ## copy everything below DESTDIR/PREFIX
	install -d $(sort $(dir $(INSTALLED))) $(L)/libcachepeek $(D)/share/cachepeek \
		$(D)/share/doc/cachepeek/examples $(D)/share/doc/cachepeek/doc
	install -m 755 $(CLI) $(D)/bin/cachepeek
	install -m 644 $(LIB) $(L)/libcachepeek.so
	install -m 755 $(SIM) $(L)/libcachepeek/
	install -m 644 $(ENCODER) $(HEAP) $(PATCHER) $(PERFSTUBS) $(SIM_CORE) $(L)/libcachepeek/
	install -m 644 $(B)/cachepeek.pc $(L)/pkgconfig/cachepeek.pc
	install -m 644 $(filter %.cmake,$(FOUND_BY)) $(L)/cmake/cachepeek/
	install -m 644 regions/cachepeek.h $(D)/include/cachepeek.h
	install -m 644 regions/cachepeek.f90 regions/cachepeek.py output/cachepeek_report.py $(D)/share/cachepeek/
	install -m 644 tools/completion/_cachepeek $(Z)/_cachepeek
	install -m 644 tools/completion/cachepeek.fish $(D)/share/fish/vendor_completions.d/
	install -m 644 tools/completion/cachepeek.bash $(D)/share/bash-completion/completions/cachepeek
	for page in $(MANUALS); do \
		install -m 644 $$page $(D)/share/man/man$${page##*.}/ || exit 1; \
	done
	install -m 644 $(SCHEMAS) $(D)/share/cachepeek/
	install -m 644 README.md $(D)/share/doc/cachepeek/
	install -m 644 $(DOCS) $(D)/share/doc/cachepeek/doc/
	install -m 644 $(EXAMPLES) $(D)/share/doc/cachepeek/examples/
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi
uninstall: ## remove what install copied
	rm -f $(INSTALLED)
	rm -rf $(INSTALLED_DIRECTORIES)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

# In a copy, because dpkg-buildpackage writes beside and into the tree.
DEB := $(B)/deb/cachepeek-$(VERSION)
.PHONY: deb deb-run
deb: ## build the Debian packages, in build/
	@sh tools/deps.sh build deb
	@$(MAKE) --no-print-directory deb-run
deb-run:
	rm -rf $(B)/deb $(B)/*.deb
	mkdir -p $(DEB)
	find . -mindepth 1 -maxdepth 1 ! -name .git ! -name 'build*' -exec cp -r {} $(DEB)/ \;
	cd $(DEB) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u MAKEOVERRIDES -u B -u DESTDIR \
		dpkg-buildpackage -b -us -uc
	lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs \
		$(B)/deb/cachepeek_$(VERSION)_*.changes
	cp $(B)/deb/*.deb $(B)/
