/** Exit code when the image lacks a program, whose name the script has printed. */
export const MISSING = 7;

/**
 * Writes files to subfolders of a folder: `DIR FOLDER/NAME BASE64 FOLDER/NAME BASE64 …`. A repeated name appends.
 * Prints the name of a program that the image lacks, if any.
 */
export const UPLOAD_FILES = `
for tool in base64 mkfifo tail head wc tr sed env mv deno; do
  command -v "$tool" > /dev/null || { echo "$tool"; exit ${MISSING}; }
done
umask 077
mkdir -p "$1" && cd "$1" || exit 1
shift
while [ $# -gt 1 ]; do
  mkdir -p "\${1%/*}" || exit 1
  printf %s "$2" | base64 -d >> "$1" || exit 1
  shift 2
done`;

/** Tests whether a file exists, by its exit code: `PATH`. Prints Deno's version. */
export const INSPECT = `
deno --version
[ -f "$1" ]`;

/**
 * Starts a program in the background: `DIR BLOCKS CWD NAME=VALUE … FILE ARG …`. It reads the named pipe `in` and writes
 * the files `out` and `err`; its exit code is in `exit` when it has ended.
 */
export const START = `
umask 077
mkdir -p "$1" && cd "$1" && mkfifo in && : > out && : > err || exit 1
dir=$1 blocks=$2 cwd=$3
shift 3
(
  ulimit -f "$blocks"
  cd "$cwd" || exit 1
  umask 022
  env -i PATH="$PATH" "$@" <> "$dir/in" >> "$dir/out" 2>> "$dir/err" &
  echo $! > "$dir/pid"
  wait $!
  echo $? > "$dir/ended" && mv "$dir/ended" "$dir/exit"
) < /dev/null > /dev/null 2>&1 &`;

/** Writes bytes to the program's input: `DIR BASE64`. Blocks while the program does not read. */
export const WRITE = `
[ -f "$1/exit" ] && exit 1
printf %s "$2" | base64 -d 1<> "$1/in"`;

/**
 * Reads the program's output from these offsets: `DIR OUT_OFFSET ERR_OFFSET TURNS PAUSE MOST LINGER`. Polls up to
 * `TURNS` times for output. Reading has no side effect, so a lost answer can be requested again.
 */
export const READ = `
cd "$1" || exit 1
turns=$4
while :; do
  ended=
  [ -f exit ] && ended=$(cat exit)
  out=$(( $(wc -c < out) - $2 ))
  err=$(( $(wc -c < err) - $3 ))
  [ "$out" -gt 0 ] || [ "$err" -gt 0 ] || [ -n "$ended" ] || [ "$turns" -le 0 ] && break
  turns=$(( turns - 1 ))
  sleep "$5"
done
[ "$out" -gt "$6" ] && out=$6
[ "$err" -gt "$6" ] && err=$6
tail -c +$(( $2 + 1 )) out | head -c "$out" | base64 | tr -d '\\n'
echo
tail -c +$(( $3 + 1 )) err | head -c "$err" | base64 | tr -d '\\n'
echo
written=$(sed -n 's/^wchar: //p' "/proc/$(cat pid)/io" 2> /dev/null)
echo "end $out $err \${written:-0} $ended"
sleep "$7"`;
