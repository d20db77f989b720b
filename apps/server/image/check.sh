#!/bin/sh
# Checks a built image: its size, and that it runs code as a user who is not root, with a read-only root. check.sh IMAGE
set -eu
image=$1
limit=350000000
size=$(docker image inspect --format '{{.Size}}' "$image")
echo "$image has $size bytes; the limit is $limit"
test "$size" -lt "$limit"
container=$(docker run --detach --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
  --env CEM_SERVER_TOKEN=a-token-for-this-test-only "$image")
trap 'docker logs "$container"; docker rm --force "$container"' EXIT
for try in $(seq 60); do
  # It is ready once a program has run in the sandbox.
  if docker exec "$container" node -e "fetch('http://127.0.0.1:3000/readyz').then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))"; then
    test "$(docker exec "$container" id -u)" = 1000
    exit 0
  fi
  sleep 1
done
echo "It was not ready within 60 s, try $try" >&2
exit 1
