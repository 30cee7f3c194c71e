import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { createPortal } from 'react-dom';
import styles from './dialog.module.css';

/**
 * A dialog over the page. Escape and a click beside it close it, and the focus returns to where it was. While it works on
 * something that closing would end, only its buttons close it.
 */
export function Dialog({
  title,
  children,
  isWorking = false,
  onClose,
}: {
  title: string;
  children: ReactNode;
  isWorking?: boolean;
  onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [isOpen, setOpen] = useState(false);
  // The content follows, because a field with `autoFocus` gets the focus only in an open dialog.
  useLayoutEffect(() => {
    const element = dialog.current;
    element?.showModal();
    setOpen(true);
    return () => element?.close();
  }, []);
  // Not inside a menu that opened it, which closes.
  return createPortal(
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-labelledby={titleId}
      closedby={isWorking ? 'none' : 'any'}
      onClose={onClose}
    >
      {isOpen && (
        <div className={styles.content}>
          <h2 id={titleId}>{title}</h2>
          {children}
        </div>
      )}
    </dialog>,
    document.body,
  );
}
