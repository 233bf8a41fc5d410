#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the seeds of report_json, profile_json, profile and samples afresh, where one
# of their formats has changed.  As root: so that no path and no name of this machine
# is in them, everything is done in a directory of its own that lies over
# /usr/local/bin, on a host named host.
#	B=build tests/fuzz/profile-seeds.sh
set -eu
build=$(realpath "${B:-build}")
seeds=$(realpath "$(dirname "$0")/seeds")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$build/tests/programs/region_pages" "$work"
cat > "$work/walk.c" << 'C'
#include <pthread.h>
#include <stdlib.h>
static int shared[64], *mine;
static void *count(void *at)
{
	for (int i = 0; i < 3000; i++)
		++*(volatile int *)at;
	return 0;
}
int main(void)
{
	pthread_t thread;
	long sum = 0;
	mine = calloc(8000, 64);
	for (int i = 0; i < 8000; i++)
		sum += mine[16 * i];
	pthread_create(&thread, 0, count, &shared[0]);
	count(&shared[1]);
	pthread_join(thread, 0);
	return sum;
}
C
cat > "$work/all.sh" << 'SH'
set -eu
hostname host
mount --bind "$2" /usr/local/bin
cd /usr/local/bin
cc -g -O1 -pthread -o walk walk.c
cli="env -i PATH=$PATH XDG_CACHE_HOME=/usr/local/bin/cache $1/cachepeek"
$cli -E sim -e l1d_misses,l2_misses -o sim.json region_pages 10 1
$cli -E perf -e perf::PAGE-FAULTS -o perf.json region_pages 10 1
$cli --repeat 2 -E sim -e l1d_misses -o repeat.json region_pages 10 1
$cli dcache -m skylake-sp -d simulated -o simulated.json walk
$cli dcache --sharing -m neoverse-n2 -d shared -o shared.json walk
$cli dcache -E perf -d sampled -o sampled.json walk
SH
unshare --uts --mount sh "$work/all.sh" "$build" "$work" > /dev/null 2>&1
header=$(printf '#include "tools/sim/profile_file.h"\n#include <stdio.h>\nint main(void) { printf("%%zu", sizeof(struct cp_profile_header)); }\n' > "$work/size.c" &&
	cc -I"$(dirname "$0")/../.." -o "$work/size" "$work/size.c" && "$work/size")
mkdir -p "$seeds/report_json" "$seeds/profile_json" "$seeds/profile" "$seeds/samples"
for name in sim perf repeat; do cp "$work/$name.json" "$seeds/report_json/$name"; done
python3 - "$work" "$seeds" "$header" "$build" << 'PYTHON'
import glob, json, re, struct, sys

work, seeds, header, build = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4].encode()
FEW = 6  # places are enough, where a run has hundreds


def save(path, data):
    """Without the build and the libraries in it; all lengths stay."""
    with open(f'{seeds}/{path}', 'wb') as out:
        data = data.replace(build, b'/' + b'b' * (len(build) - 1))
        out.write(data.replace(b'/usr/lib', b'/usr/lix'))  # nothing to open and read


# Without blanks: the mutations are of values.
for name in 'simulated', 'shared', 'sampled':
    profile = json.load(open(f'{work}/{name}.json'))
    own = [f for f in profile['functions'] if f['module'].endswith('walk')]
    profile['functions'] = own[:FEW]
    for key in 'sources', 'data':
        profile[key] = profile.get(key, [])[:FEW]
    for source in profile['sources']:
        source['lines'] = source['lines'][:FEW]
    text = json.dumps(profile, separators=(',', ':')).encode()
    save(f'profile_json/{name}', re.sub(rb'"/[^"]*/(base|preload|tools)/', rb'"/\1/', text))  # where our own sources are

# Entries are {kind, size}, behind the header of a profile and before the zeros at the
# end of its chunk; kinds 3 to 5 are the many ones.
CHUNK = 256 << 10
for name in 'simulated', 'shared':
    data = open(glob.glob(f'{work}/{name}/*.profile')[0], 'rb').read()
    out, seen, at = bytearray(data[:header]), {}, header
    while at + 8 <= len(data):
        kind, size = struct.unpack_from('II', data, at)
        if not kind:
            at += CHUNK - at % CHUNK
            continue
        seen[kind] = seen.get(kind, 0) + 1
        if kind not in (3, 4, 5) or seen[kind] <= 3 * FEW:
            out += data[at:at + size]
        at += size
    save(f'profile/{name}', out)
data = open(glob.glob(f'{work}/sampled/*.samples')[0], 'rb').read().rstrip(b'\0')
save('samples/faults', data + bytes(-len(data) % 8 + 64))
PYTHON
chmod 644 "$seeds"/*/*
