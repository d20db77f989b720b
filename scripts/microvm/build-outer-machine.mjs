// The machine that QEMU boots: Debian's cloud kernel with its KVM modules, a minimal Debian, Node, and the tests on a
// disk of their own. The system is built once; the tests' disk each time.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findNode, root } from "../node24.mjs";
import { say, SetupError } from "../setup.mjs";
import { hasProgram } from "./host.mjs";

const cache = path.join(root, ".cem", "microvm");
const SUITE = "bookworm";
/** Increased when the system has to be built anew. */
const SYSTEM_VERSION = 1;
/** In the order they are loaded; those that are not there are part of the kernel. */
const MODULES =
  "irqbypass ccp kvm kvm-amd virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk".split(
    " ",
  );
const PROGRAMS = {
  "qemu-system-x86_64": "qemu-system-x86",
  debootstrap: "debootstrap",
  mke2fs: "e2fsprogs",
  cpio: "cpio",
};

function run(command, args, cwd = cache) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const done = spawnSync(command, args, { cwd, encoding: "utf8", env, maxBuffer: 64 * 1024 * 1024 });
  if (done.status === 0) return done.stdout;
  throw new SetupError(
    `${command} ${args.join(" ")} failed:\n${done.stdout ?? ""}${done.stderr ?? done.error}`,
  );
}

function makeImage(folder, file, size) {
  rmSync(file, { force: true });
  run("mke2fs", ["-q", "-t", "ext4", "-O", "^has_journal", "-d", folder, file, size]);
}

/** Builds what is missing, and gives the files that QEMU needs. */
export async function buildOuterMachine(job) {
  mkdirSync(cache, { recursive: true });
  installPrograms();
  const system = path.join(cache, `system-${SYSTEM_VERSION}`);
  if (!existsSync(system)) buildSystem(system);
  say("Writing the tests' disk …");
  const jobImage = path.join(cache, "job.img");
  const disk = path.join(cache, "disk");
  rmSync(disk, { recursive: true, force: true });
  mkdirSync(disk);
  // Where they are on this host: the machines' images name the place.
  run("sh", ["-c", `cp -a "$1" "$2" "$3"/`, "sh", job.folder, job.home, disk]);
  writeFileSync(path.join(disk, "run.sh"), jobScript(job));
  makeImage(disk, jobImage, "2G");
  rmSync(disk, { recursive: true, force: true });
  const files = { kernel: "vmlinuz", initrd: "initrd.gz", systemImage: "system.img" };
  const found = Object.entries(files).map(([name, file]) => [name, path.join(system, file)]);
  return { ...Object.fromEntries(found), jobImage };
}

function jobScript({ folder, home }) {
  return `mkdir -p "${path.dirname(folder)}" && mount --bind /disk "${path.dirname(folder)}"
mkdir -p /disk/tmp; export TMPDIR=/disk/tmp
cd "${folder}" && XDG_CACHE_HOME="${path.dirname(home)}" node run.mjs
`;
}

function installPrograms() {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !hasProgram(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  say(`Installing ${packages.join(", ")} …`);
  run("apt-get", ["update", "-qq"]);
  run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages]);
}

function buildSystem(system) {
  const making = `${system}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  say("Building the outer machine's system, once …");
  run("apt-get", ["update", "-qq"]);
  const kernel = kernelPackage();
  const options = ["-o", "APT::Sandbox::User=root"];
  run("apt-get", [...options, "download", "-qq", kernel, "busybox-static"], making);
  for (const file of readdirSync(making).filter((name) => name.endsWith(".deb"))) {
    run("dpkg", ["-x", file, file.startsWith("busybox") ? "busybox" : "kernel"], making);
  }
  writeInitrd(making);
  const rootfs = path.join(making, "rootfs");
  run("debootstrap", ["--variant=minbase", "--include=ca-certificates", SUITE, rootfs], making);
  mkdirSync(path.join(rootfs, "opt/node/bin"), { recursive: true });
  cpSync(findNode(), path.join(rootfs, "opt/node/bin/node"), { dereference: true });
  mkdirSync(path.join(rootfs, "disk"));
  writeFileSync(path.join(rootfs, "sbin/cem-init"), SYSTEM_INIT, { mode: 0o755 });
  makeImage(rootfs, path.join(making, "system.img"), "1G");
  for (const name of readdirSync(making)) {
    if (!["vmlinuz", "initrd.gz", "system.img"].includes(name))
      rmSync(path.join(making, name), { recursive: true });
  }
  renameSync(making, system);
}

function kernelPackage() {
  const found = run("apt-cache", ["depends", "linux-image-cloud-amd64"]);
  const name = /Depends: (linux-image-\S+-cloud-amd64)/.exec(found)?.[1];
  if (name === undefined)
    throw new SetupError("Debian's cloud kernel (linux-image-cloud-amd64) was not found.");
  return name;
}

function writeInitrd(making) {
  const initrd = path.join(making, "initrd");
  for (const name of ["bin", "dev", "proc", "sys", "root", "modules"])
    mkdirSync(path.join(initrd, name), { recursive: true });
  cpSync(path.join(making, "busybox/bin/busybox"), path.join(initrd, "bin/busybox"));
  const kernel = path.join(making, "kernel");
  for (const file of readdirSync(kernel, { recursive: true, encoding: "utf8" })) {
    const name = path.basename(file, ".ko");
    if (file.endsWith(".ko") && MODULES.includes(name)) {
      cpSync(path.join(kernel, file), path.join(initrd, "modules", `${name}.ko`));
    }
  }
  writeFileSync(path.join(initrd, "init"), INITRD_INIT, { mode: 0o755 });
  run("sh", ["-c", "find . | cpio -o -H newc --quiet | gzip -1 > ../initrd.gz"], initrd);
  const image = readdirSync(path.join(kernel, "boot")).find((name) => name.startsWith("vmlinuz"));
  cpSync(path.join(kernel, "boot", image ?? ""), path.join(making, "vmlinuz"));
}

const INITRD_INIT = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc proc /proc; $b mount -t sysfs sys /sys; $b mount -t devtmpfs dev /dev
for m in ${MODULES.join(" ")}; do [ -f /modules/$m.ko ] && $b insmod /modules/$m.ko; done
i=0; while [ ! -b /dev/vdb ] && [ $i -lt 100 ]; do $b sleep 0.1; i=$((i+1)); done
$b mount -t ext4 /dev/vda /root
$b mount --move /dev /root/dev
$b umount /proc /sys
exec $b switch_root /root /sbin/cem-init
`;

const SYSTEM_INIT = `#!/bin/sh
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t tmpfs -o mode=755 run /run
mkdir -p /dev/pts /dev/shm; mount -t devpts devpts /dev/pts; mount -t tmpfs shm /dev/shm
mount -t ext4 /dev/vdb /disk; ip link set lo up 2>/dev/null
export PATH=/opt/node/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
sh /disk/run.sh > /dev/ttyS0 2>&1
sync; echo o > /proc/sysrq-trigger; sleep 10
`;
