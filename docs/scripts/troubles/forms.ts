import type { Troubles } from "./trouble.ts";

/** Errors of forms. */
export const FORM_TROUBLES = {
  BROWSER_FAILED: {
    cause: "The browser did not start or went away.",
    wayOut: "Start it by hand to see why. As root it needs `--no-sandbox`, which is set then.",
  },
  BROWSER_NOT_FOUND: {
    cause: "No Chromium was found.",
    wayOut: "Install Chromium, or name it in `CHROMIUM_PATH`.",
  },
  FORM_INVALID: {
    cause: "The definition of the form is not valid.",
    wayOut: "Mend the lines that the message names.",
  },
  FORM_NOT_FILLED: {
    cause: "Values are missing, do not fit, or the target refused them. Nothing was sent.",
    wayOut: "`missing` and `problems` of the result name the fields.",
  },
  FORM_TARGET_FAILED: {
    cause: "The page or the file can't be opened, or led to an origin that is not allowed.",
    wayOut: "Check the target; add origins to `allowed_origins`.",
  },
  PACKAGE_MISSING: {
    cause: "A feature needs an optional package.",
    wayOut: "Install the package that the message names.",
  },
} satisfies Troubles;
