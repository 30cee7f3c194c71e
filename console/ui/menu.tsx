import { Icon } from '@switchyard/design/icon.tsx';
import { type ReactNode, useId } from 'react';
import styles from './menu.module.css';

/** The button with three dots, which opens further actions: buttons and links, each in a row. */
export function MoreMenu({ label = 'More actions', children }: { label?: string; children: ReactNode }) {
  return (
    <DropMenu label={label} className={`icon-button ${styles.more}`} button={<Icon name="more" />}>
      {children}
    </DropMenu>
  );
}

interface DropMenuProps {
  /** Names a button without words. */
  label?: string;
  className?: string;
  button: ReactNode;
  /** The side of the button from which it extends. The default is its end. */
  from?: 'start' | 'end';
  children: ReactNode;
}

/**
 * A button that opens a list of actions, which may contain fields. It is a popover of the browser, which closes it on Escape
 * and on a press elsewhere, and returns the focus. A press on an action closes it too.
 */
export function DropMenu({ label, className, button, from = 'end', children }: DropMenuProps) {
  const id = useId();
  const close = ({ target }: { target: EventTarget }) => {
    if (target instanceof Element && target.closest('a, button')) document.getElementById(id)?.hidePopover();
  };
  return (
    <>
      <button type="button" className={className} aria-label={label} popoverTarget={id}>
        {button}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a press on one of the actions also closes their list */}
      <div id={id} popover="auto" className={`popover ${styles.menu} ${styles[from]}`} onClickCapture={close}>
        {children}
      </div>
    </>
  );
}
