import path from "node:path";

const SETTLED_MS = 100;

/**
 * Calls the listener after skills in a folder were added, changed or removed, by whichever process. The folder may be
 * missing still. Never keeps the process alive.
 *
 * @returns what ends it.
 */
export async function followSkills(
  skillsDir: string,
  onChange: () => Promise<void>,
): Promise<() => Promise<void>> {
  const { watch } = await import("chokidar");
  const root = path.resolve(skillsDir);
  const watcher = watch(root, {
    ignoreInitial: true,
    persistent: false,
    followSymlinks: false,
    // Proposals, earlier versions and half-written skills are nobody's skills yet.
    ignored: (file) =>
      path
        .relative(root, file)
        .split(path.sep)
        .some((name) => /^\.(?!\.)/u.test(name)),
  });
  let timer: NodeJS.Timeout | undefined;
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(() => void onChange().catch(() => {}), SETTLED_MS).unref();
  });
  // Where the system has no room for another watch, answers are still read anew; clients are only not told.
  watcher.on("error", () => {});
  await new Promise<void>((resolve) => watcher.once("ready", resolve));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
