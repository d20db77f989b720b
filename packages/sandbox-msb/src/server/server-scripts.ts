/** Exit code of a script that misses something in its image, which it has named. */
export const MISSING = 7;

/**
 * Brings files into a folder: `DIR NAME BASE64 NAME BASE64 …`. A name that comes again goes on where it was. Says first
 * what the image lacks.
 */
export const BRING_FILES = `
for tool in base64 mkfifo tail head wc tr sed env mv deno; do
  command -v "$tool" > /dev/null || { echo "$tool"; exit ${MISSING}; }
done
umask 077
mkdir -p "$1/guest" && cd "$1" || exit 1
shift
while [ $# -gt 1 ]; do
  printf %s "$2" | base64 -d >> "$1" || exit 1
  shift 2
done`;

/** True, as an exit code, where the guest sees a file: \`PATH\`. And it says which Deno it has. */
export const LOOK = `
deno --version
[ -f "$1" ]`;

/**
 * Starts a program that lives on: \`DIR CWD BLOCKS NAME=VALUE … FILE ARG …\`. It reads the pipe \`in\`, which never ends,
 * and writes the files \`out\` and \`err\`; its exit code is in \`exit\` when it has ended.
 */
export const START = `
umask 077
mkdir -p "$1" && cd "$1" && mkfifo in && : > out && : > err || exit 1
dir=$1 cwd=$2 blocks=$3
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

/** Hands bytes to the program: \`DIR BASE64\`. Waits while it does not read. */
export const WRITE = `
[ -f "$1/exit" ] && exit 1
printf %s "$2" | base64 -d 1<> "$1/in"`;

/**
 * Reads what the program has written since: \`DIR OUT_OFFSET ERR_OFFSET TURNS PAUSE MOST LINGER\`. Waits for some, in so
 * many turns with a pause each. Reading changes nothing, so what an answer lost is asked for again.
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
