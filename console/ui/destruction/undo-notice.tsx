import { useMutation } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { describeError } from '../../client/client.ts';
import { Button } from '../button.tsx';
import { getUndoableAction, offerUndo, type UndoableAction, watchUndo } from './undo.ts';
import styles from './undo-notice.module.css';

/** Long enough to read a sentence and to reach the button by the keyboard. */
const VISIBLE_MS = 10_000;
const close = () => offerUndo(undefined);

/** The notice over the page that offers to undo the latest action. It announces itself to screen readers. */
export function UndoNotice() {
  const action = useSyncExternalStore(watchUndo, getUndoableAction);
  return (
    <div role="status" className={styles.place}>
      {action && <Offer key={action.message} action={action} />}
    </div>
  );
}

function Offer({ action }: { action: UndoableAction }) {
  // Somebody who reads or reaches the notice keeps it.
  const [isHeld, setHeld] = useState(false);
  const undoing = useMutation({ mutationFn: action.undo, onSuccess: close });
  const isWaiting = !isHeld && undoing.isIdle;
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setTimeout(close, VISIBLE_MS);
    return () => clearTimeout(timer);
  }, [isWaiting, action]);
  const hold = { onPointerEnter: () => setHeld(true), onFocus: () => setHeld(true) };
  const release = { onPointerLeave: () => setHeld(false), onBlur: () => setHeld(false) };
  return (
    <div className={styles.notice} {...hold} {...release}>
      <span>{undoing.isError ? describeError(undoing.error) : action.message}</span>
      <Button onPress={() => undoing.mutate()} isDisabled={undoing.isPending}>
        Undo
      </Button>
      <Button kind="quiet" onPress={close} aria-label="Close">
        ×
      </Button>
    </div>
  );
}
