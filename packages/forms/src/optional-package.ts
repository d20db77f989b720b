import { CemError } from "@cem/core";

/**
 * Imports an optional package.
 *
 * @throws CemError `PACKAGE_MISSING`
 */
export async function importOptional<Module>(names: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw cause;
    throw new CemError(
      "PACKAGE_MISSING",
      `Filling this form needs ${names}, which is not installed. Install it: npm install ${names}`,
      { details: { packages: names.split(" ") }, cause },
    );
  }
}
