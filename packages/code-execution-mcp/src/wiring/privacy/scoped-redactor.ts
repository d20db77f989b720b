import { tokenizeInTurns, type Redactor } from "@cem/core";

/** Maximum number of sessions remembered, to forget their values with the owner. The same number as in a redactor. */
const MAX_SESSIONS = 10_000;
const OF_SCOPE = /^customer ([a-z0-9_-]+) /u;

/** A redactor whose sessions are those of one owner. */
export interface ScopedRedactor extends Redactor {
  /** Forgets the values of all of the owner's sessions. */
  forget(): Promise<void>;
}

/** Scoped redactors and their owners, so that none is scoped twice. */
const scoped = new WeakMap<Redactor, { id: string; made: ScopedRedactor }>();

/**
 * Gives an owner a separate namespace of sessions in a shared redactor: tokens of another owner's session are not resolved,
 * even if it has the same name.
 */
export function scopeRedactor(redactor: Redactor, id: string): ScopedRedactor {
  const known = scoped.get(redactor);
  if (known?.id === id) return known.made;
  const sessions = new Set<string>();
  const nameOf = (session = ""): string => {
    const name = `customer ${id} ${session}`;
    if (!sessions.has(name)) {
      const [oldest] = sessions;
      if (sessions.size >= MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest);
      sessions.add(name);
    }
    return name;
  };
  const own = <Scope extends { session?: string | undefined }>(scope: Scope): Scope => ({
    ...scope,
    session: nameOf(scope.session),
  });
  const made: ScopedRedactor = {
    specificationVersion: "v1",
    guest: redactor.guest,
    tracksOrigins: redactor.tracksOrigins,
    tokenize: (data, scope) => redactor.tokenize(data, own(scope)),
    tokenizePart: (text, range, scope) => redactor.tokenizePart(text, range, own(scope)),
    keep: (value, type, scope) => redactor.keep(value, type, own(scope)),
    observe: (data, scope) => redactor.observe(data, own(scope)),
    detokenize: (args, target) => redactor.detokenize(args, own(target)),
    reveal: (code, scope) => redactor.reveal(code, own(scope)),
    openStream: (scope) => redactor.openStream(own(scope)),
    async endSession(session) {
      const name = nameOf(session);
      sessions.delete(name);
      await redactor.endSession(name);
    },
    async forget() {
      await Promise.all([...sessions].map((name) => redactor.endSession(name)));
      redactor.forgetWorkspace?.(nameOf());
      sessions.clear();
    },
    dispose: () => redactor.dispose(),
  };
  if (redactor.tokenizeInTurns !== undefined)
    made.tokenizeInTurns = async (data, scope) => tokenizeInTurns(redactor, data, own(scope));
  if (redactor.tokenizeFile !== undefined)
    made.tokenizeFile = async (text, scope) => redactor.tokenizeFile?.(text, own(scope)) ?? text;
  if (redactor.observeInTurns !== undefined)
    made.observeInTurns = async (data, scope) => redactor.observeInTurns?.(data, own(scope));
  if (redactor.recognize !== undefined)
    made.recognize = async (data, scope) => redactor.recognize?.(data, own(scope));
  if (redactor.restore !== undefined) made.restore = async (session) => redactor.restore?.(nameOf(session));
  if (redactor.persist !== undefined) made.persist = async (session) => redactor.persist?.(nameOf(session));
  scoped.set(made, { id, made });
  return made;
}

/** The owner of a session of a scoped redactor. */
export function scopeOfSession(session: string): string | undefined {
  return OF_SCOPE.exec(session)?.[1];
}
