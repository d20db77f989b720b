import { cp } from "node:fs/promises";
import path from "node:path";
import { library } from "../../tsup.base.ts";

export default library({
  entry: { cem: "src/cem.ts" },
  splitting: true,
  typed: false,
  // `cem examples` takes what it runs from beside itself.
  onSuccess: async () => {
    const isKept = (file: string): boolean => !/node_modules|\.test\.ts$|\.config\.ts$|\.json$/u.test(file);
    for (const part of ["examples", "servers", "skills"]) {
      await cp(path.join("../..", part), path.join("dist/samples", part), {
        recursive: true,
        filter: isKept,
      });
    }
  },
});
