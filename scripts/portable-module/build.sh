#!/usr/bin/env bash
# Builds DuckDB 1.5.6 as one WebAssembly module, with core_functions, json, parquet and icu linked in.
# It runs on Debian 13 (trixie), amd64, as a user who may install packages.
# Usage: build.sh WORK_FOLDER   (the folder is made, and should be empty)
# bridge.cpp, the small C API, must lie beside this script.
# On another Debian or Ubuntu, make a Debian 13 tree first, and run this script inside it with chroot:
#   debootstrap --variant=minbase trixie TREE
set -euo pipefail

WORK=$(realpath -m "${1:?give the work folder}")
HERE=$(cd "$(dirname "$0")" && pwd)
JOBS=${JOBS:-2}
SDIST_SHA256=166a91dbfacfc0c9f08cc76c0243cb6d3d4296bfab5bad72a3cfb63140a5b7c8
BRIDGE_SHA256=6ad79fb7f39fc3bcb0dec7d3f8c8e3350b085a59d49543646490d134c1f07b7c
MODULE_SHA256=752474a68b8254aa248841d488ffb1b559cef4dfefd72cdd2595990680710cfa
GLUE_SHA256=78f3ef9ca0f8f65798fe6246b8eebbff11f708e5e7cf1cc47318469e20723468
# The commit that the released 1.5.6 names in PRAGMA version. The sdist itself does not hold it.
GIT_DESCRIBE=v1.5.6-0-g069cc9f9b5

# 1. The tools. Emscripten 3.1.69 comes with its system libraries ready built, also for wasm exceptions.
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends \
  emscripten=3.1.69+dfsg-3 binaryen=120-4 clang-19 lld-19 cmake ninja-build python3 python3-venv ca-certificates

# 2. The sources. pip asks the sdist for its metadata, which needs cmake 3.29 or newer in the path.
mkdir -p "$WORK/src" "$WORK/build"
cd "$WORK/src"
echo "$BRIDGE_SHA256  $HERE/bridge.cpp" | sha256sum -c
cp "$HERE/bridge.cpp" .
python3 -m venv "$WORK/venv"
"$WORK/venv/bin/pip" download --quiet --no-deps --no-binary duckdb -d . duckdb==1.5.6
echo "$SDIST_SHA256  duckdb-1.5.6.tar.gz" | sha256sum -c
tar xf duckdb-1.5.6.tar.gz
cd "$WORK"
SOURCE="$WORK/src/duckdb-1.5.6/external/duckdb"

# 3. Configure. No threads, no network, no loading of extensions. Native wasm exceptions.
# The prefix maps keep the work folder's name out of the module.
# One file name stays in it relative to build, so keep src and build beside each other.
export EMCC_CORES=$JOBS
FLAGS="-fwasm-exceptions -DDUCKDB_NO_THREADS=1 -ffile-prefix-map=$WORK/src/duckdb-1.5.6=. -ffile-prefix-map=$WORK/build=build"
emcmake cmake -G Ninja -S "$SOURCE" -B build \
  -DCMAKE_BUILD_TYPE=MinSizeRel \
  -DCMAKE_C_FLAGS="$FLAGS" -DCMAKE_CXX_FLAGS="$FLAGS" \
  -DCMAKE_C_FLAGS_MINSIZEREL="-Os -DNDEBUG" -DCMAKE_CXX_FLAGS_MINSIZEREL="-Os -DNDEBUG" \
  -DCMAKE_C_COMPILER_LAUNCHER= -DCMAKE_CXX_COMPILER_LAUNCHER= \
  -DBUILD_EXTENSIONS="core_functions;json;parquet;icu" \
  -DBUILD_SHELL=0 -DBUILD_UNITTESTS=0 -DENABLE_SANITIZER=0 -DENABLE_UBSAN=0 \
  -DDISABLE_THREADS=1 -DDISABLE_BUILTIN_HTTPLIB=1 -DDISABLE_EXTENSION_LOAD=1 -DSMALLER_BINARY=1 \
  -DENABLE_EXTENSION_AUTOLOADING=0 -DENABLE_EXTENSION_AUTOINSTALL=0 \
  -DDUCKDB_EXPLICIT_PLATFORM=wasm_eh -DOVERRIDE_GIT_DESCRIBE=$GIT_DESCRIBE

# 4. Compile. 404 steps.
nice -n 19 ninja -C build -j"$JOBS" duckdb_static duckdb_generated_extension_loader \
  core_functions_extension json_extension parquet_extension icu_extension
cd build
em++ -std=c++11 -Os -DNDEBUG -fwasm-exceptions -DDUCKDB_NO_THREADS=1 -DDUCKDB_SMALLER_BINARY \
  -ffile-prefix-map="$WORK/src=." \
  -I"$SOURCE/src/include" -I"$SOURCE/third_party/fmt/include" -c "$WORK/src/bridge.cpp" -o bridge.o

# 5. Link, twice, and compare. Files live in memory only (MEMFS).
link() {
  mkdir -p "$1"
  nice -n 19 em++ -Os -fwasm-exceptions bridge.o src/libduckdb_static.a \
    extension/core_functions/libcore_functions_extension.a extension/icu/libicu_extension.a \
    extension/json/libjson_extension.a extension/parquet/libparquet_extension.a \
    extension/libduckdb_generated_extension_loader.a -o "$1/duckdb.mjs" \
    --no-entry -sMODULARIZE=1 -sEXPORT_ES6=1 -sENVIRONMENT=node -sFILESYSTEM=1 -sFORCE_FILESYSTEM=1 \
    -sALLOW_MEMORY_GROWTH=1 -sINITIAL_MEMORY=64MB -sMAXIMUM_MEMORY=4GB -sSTACK_SIZE=8MB \
    -sEXPORTED_FUNCTIONS=_ddb_open,_ddb_query,_ddb_free,_ddb_close,_ddb_error,_malloc,_free \
    -sEXPORTED_RUNTIME_METHODS=FS,UTF8ToString,stringToUTF8,lengthBytesUTF8,HEAPU8
}
link first
link second
cmp first/duckdb.wasm second/duckdb.wasm
cmp first/duckdb.mjs second/duckdb.mjs
mkdir -p "$WORK/out"
cp first/duckdb.wasm first/duckdb.mjs "$WORK/out/"

# 6. The digests this recipe should give.
cd "$WORK/out"
sha256sum duckdb.wasm duckdb.mjs
echo "$MODULE_SHA256  duckdb.wasm" | sha256sum -c
echo "$GLUE_SHA256  duckdb.mjs" | sha256sum -c
