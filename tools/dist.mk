# SPDX-License-Identifier: MIT
# A release: a tarball that builds by itself, the recipes of other packagers with its
# checksum, and the Debian packages.  Included by the root Makefile.

NAME := cachepeek-$(VERSION)
TARBALL := $(B)/$(NAME).tar.gz
# Where the tarball of a release lies; until there is one, here.
RELEASES ?= file://$(abspath $(B))
RECIPES := $(patsubst packaging/%.in,$(B)/packaging/%,$(shell find packaging -name '*.in'))
# In an unpacked tarball, which git knows nothing of, all that is there.
LISTED = { git ls-files -z 2> /dev/null | grep -z . || \
	find . -type f ! -path './build*' ! -name '*.pyc' -printf '%P\0'; }
# The time of the last change, so that the same tree makes the same bytes.
STAMP = $${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2> /dev/null || stat -c %Y CHANGELOG.md)}

.PHONY: dist dist-check
dist: $(TARBALL) $(RECIPES) ## make the release's tarball, and recipes with its checksum, in build/
dist-check:
	@grep -q '^## \[$(VERSION)\]' CHANGELOG.md || \
		{ echo 'dist: CHANGELOG.md has no section [$(VERSION)]: name what it changes' >&2; exit 1; }
	@head -n 1 debian/changelog | grep -qF 'cachepeek ($(VERSION))' || \
		{ echo 'dist: debian/changelog does not begin with $(VERSION): add it (dch -v $(VERSION))' >&2; exit 1; }
$(TARBALL): dist-check FORCE
	@mkdir -p $(@D)
	@stamp=$(STAMP) && $(LISTED) | LC_ALL=C sort -z | tar --no-recursion --transform='s|^|$(NAME)/|' \
		--format=ustar --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s --mtime=@$$stamp \
		-cf $(@:.gz=) --null -T -
	@gzip -9nf $(@:.gz=)
	@echo $@
# Beside the tarball, because other systems package it in other places, or not at all.
CHART_BESIDE := $(B)/chart.min.js
$(CHART_BESIDE): $(CHART)
	@mkdir -p $(@D)
	@cp $< $@
$(RECIPES): $(B)/packaging/%: packaging/%.in $(TARBALL) $(CHART_BESIDE)
	@mkdir -p $(@D)
	@sum=$$(sha256sum $(TARBALL)) && chart=$$(sha256sum $(CHART_BESIDE)) && \
		sed -e 's|@VERSION@|$(VERSION)|g' -e 's|@RELEASES@|$(RELEASES)|g' \
		-e "s|@SHA256@|$${sum%% *}|g" -e "s|@CHART_SHA256@|$${chart%% *}|g" $< > $@

# Made of the tarball: what it lacks, the package lacks.
DEB := $(B)/deb/$(NAME)
.PHONY: deb deb-run
deb: ## build the Debian packages from the tarball, in build/
	@sh tools/deps.sh build deb
	@$(MAKE) --no-print-directory deb-run
deb-run: $(TARBALL)
	rm -rf $(B)/deb $(B)/*.deb
	mkdir -p $(B)/deb
	tar -xzf $(TARBALL) -C $(B)/deb
	cd $(DEB) && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u MAKEOVERRIDES -u B -u DESTDIR \
		dpkg-buildpackage -b -us -uc
	lintian --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs \
		$(B)/deb/cachepeek_$(VERSION)_*.changes
	cp $(B)/deb/*.deb $(B)/
