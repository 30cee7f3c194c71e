/** The latest action that can be undone. A page announces it, and the frame of the pages shows it for a while. */

/** An action that was done, with the way back. */
export interface UndoableAction {
  /** Says what was done, such as `Tag removed`. */
  message: string;
  undo: () => Promise<void>;
}

let latest: UndoableAction | undefined;
const listeners = new Set<() => void>();

/** Shows the action with a button that undoes it. It replaces the one before. */
export function offerUndo(action: UndoableAction | undefined): void {
  latest = action;
  for (const notify of listeners) notify();
}

/** Calls `onChange` for each new action; returns the function that ends this. */
export function watchUndo(onChange: () => void): () => void {
  listeners.add(onChange);
  return () => listeners.delete(onChange);
}

/** Returns the action that can be undone now. */
export const getUndoableAction = (): UndoableAction | undefined => latest;
