// The machine that QEMU boots: Debian's cloud kernel with its KVM modules, and of a system no more than Node and the
// sandboxes need. Built once; the tests come on a disk of their own.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { findNode, root } from "../../../../scripts/node24.mjs";
import { say, SetupError } from "../../../../scripts/setup.mjs";
import { hasProgram } from "../host.mjs";
import { run } from "../run.mjs";

const cache = path.join(root, ".cem", "microvm");
/** Increased when the system has to be built anew. */
const SYSTEM_VERSION = 2;
/** In the order they are loaded; those that are not there are part of the kernel. */
const MODULES =
  "irqbypass ccp kvm kvm-amd virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk".split(
    " ",
  );
/** Debian packages that Node, microsandbox, and for comparison the Deno sandbox need. */
const LIBRARIES =
  "libc6 libgcc-s1 libstdc++6 libcap-ng0 bubblewrap libcap2 libselinux1 libpcre2-8-0 util-linux libsmartcols1".split(
    " ",
  );
const KERNEL = "linux-image-cloud-amd64";
const PROGRAMS = { "qemu-system-x86_64": "qemu-system-x86", mke2fs: "e2fsprogs", cpio: "cpio" };
const APT = ["-qq", "-o", "APT::Sandbox::User=root"];
const FOLDERS = "bin sbin dev proc sys run tmp root disk var etc/ssl/certs opt/node/bin".split(" ");
const CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt";

/** A file system image of a folder. */
export async function makeImage(folder, file, size) {
  rmSync(file, { force: true });
  await run("mke2fs", ["-q", "-t", "ext4", "-O", "^has_journal", "-d", folder, file, size]);
}

/** Installs what the build itself needs. */
export async function installPrograms() {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !hasProgram(program));
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  say(`Installing ${packages.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await run("apt-get", ["update", "-qq"], { env });
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...packages], { env });
}

/** Builds the system where it is missing, and gives the files that QEMU needs. */
export async function buildOuterMachine() {
  const system = path.join(cache, `system-${SYSTEM_VERSION}`);
  if (!existsSync(system)) await buildSystem(system);
  const files = { kernel: "vmlinuz", initrd: "initrd.gz", systemImage: "system.img" };
  return Object.fromEntries(Object.entries(files).map(([name, file]) => [name, path.join(system, file)]));
}

async function buildSystem(system) {
  const making = `${system}.making`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(path.join(making, "debs"), { recursive: true });
  say("Building the outer machine's system, once …");
  await download(path.join(making, "debs"));
  const rootfs = path.join(making, "rootfs");
  for (const name of FOLDERS) mkdirSync(path.join(rootfs, name), { recursive: true });
  await unpack(making, rootfs);
  await Promise.all([makeInitrd(making), makeRoot(making, rootfs)]);
  for (const name of readdirSync(making)) {
    if (!["vmlinuz", "initrd.gz", "system.img"].includes(name))
      rmSync(path.join(making, name), { recursive: true });
  }
  renameSync(making, system);
}

async function download(folder) {
  const get = async () => {
    const depends = await run("apt-cache", ["depends", KERNEL]);
    const kernel = /Depends: (linux-image-\S+-cloud-amd64)/.exec(depends)?.[1];
    if (kernel === undefined) throw new SetupError(`Debian's package ${KERNEL} was not found.`);
    await run("apt-get", [...APT, "download", kernel, "busybox-static", ...LIBRARIES], { cwd: folder });
  };
  // The lists of packages may be missing, or too old.
  await get().catch(async () => {
    await run("apt-get", ["update", "-qq"]);
    await get();
  });
}

async function unpack(making, rootfs) {
  const debs = path.join(making, "debs");
  const folderOf = (file) =>
    file.startsWith("linux-image") ? "kernel" : file.startsWith("busybox") ? "busybox" : "rootfs";
  await Promise.all(
    readdirSync(debs).map((file) =>
      run("dpkg", ["-x", path.join(debs, file), path.join(making, folderOf(file))]),
    ),
  );
  for (const name of ["lib", "lib64"]) {
    // Newer packages have them below /usr only.
    if (!existsSync(path.join(rootfs, name))) symlinkSync(`usr/${name}`, path.join(rootfs, name));
  }
}

async function makeRoot(making, rootfs) {
  cpSync(findNode(), path.join(rootfs, "opt/node/bin/node"), { dereference: true });
  for (const name of ["usr/share/doc", "usr/share/locale", "usr/lib/x86_64-linux-gnu/gconv"])
    rmSync(path.join(rootfs, name), { recursive: true, force: true });
  cpSync(path.join(making, "busybox/bin/busybox"), path.join(rootfs, "bin/busybox"));
  for (const name of ["sh", "mount", "mkdir", "ip", "cat", "sync", "sleep"])
    symlinkSync("busybox", path.join(rootfs, "bin", name));
  writeFileSync(path.join(rootfs, "etc/passwd"), "root:x:0:0::/root:/bin/sh\n");
  // The SDK wants some, though nothing is reached from there.
  if (existsSync(CERTIFICATES)) cpSync(CERTIFICATES, path.join(rootfs, CERTIFICATES), { dereference: true });
  writeFileSync(path.join(rootfs, "sbin/cem-init"), SYSTEM_INIT, { mode: 0o755 });
  await makeImage(rootfs, path.join(making, "system.img"), "400M");
}

async function makeInitrd(making) {
  const initrd = path.join(making, "initrd");
  for (const name of ["bin", "dev", "proc", "sys", "root", "modules"])
    mkdirSync(path.join(initrd, name), { recursive: true });
  cpSync(path.join(making, "busybox/bin/busybox"), path.join(initrd, "bin/busybox"));
  const kernel = path.join(making, "kernel");
  for (const file of readdirSync(kernel, { recursive: true, encoding: "utf8" })) {
    const name = path.basename(file).replace(/\.ko.*$/, "");
    if (/\.ko(?:\.xz)?$/.test(file) && MODULES.includes(name))
      cpSync(path.join(kernel, file), path.join(initrd, "modules", path.basename(file)));
  }
  writeFileSync(path.join(initrd, "init"), INITRD_INIT, { mode: 0o755 });
  const pack =
    "for m in modules/*.xz; do [ -f $m ] && xz -d $m; done; find . | cpio -o -H newc --quiet | gzip -1";
  await run("sh", ["-c", `${pack} > ../initrd.gz`], { cwd: initrd });
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
