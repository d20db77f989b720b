import type { Troubles } from "./trouble.ts";

/** Errors of values kept from the model. */
export const REDACTION_TROUBLES = {
  VAULT_UNREADABLE: {
    cause: "The file of a session's values was written with another key, or is damaged.",
    wayOut: "Set `CEM_VAULT_KEY` to that key, or delete the file.",
  },
  VAULT_KEY_INVALID: {
    cause: "Values are to be kept on disk, and the key is missing or has the wrong length.",
    wayOut: "Set `CEM_VAULT_KEY` to 32 bytes in hex: `openssl rand -hex 32` makes some.",
  },
  RECOGNIZER_FAILED: {
    cause: "The model that finds names is not there, or its package is missing.",
    wayOut: "Install `@huggingface/transformers`, and set `privacy.names_model` to the model's folder.",
  },
  AUDIT_BROKEN: {
    cause: "The chain of hashes of the audit log is broken: lines are missing or were changed.",
    wayOut:
      "Take the log for tampered with from that line on. Keep the last hash elsewhere, and check with `--expect`.",
  },
  AUDIT_UNWRITABLE: {
    cause: "The audit log can't be opened or written.",
    wayOut: "Set `logging.audit_file` to a file that can be written.",
  },
} satisfies Troubles;
