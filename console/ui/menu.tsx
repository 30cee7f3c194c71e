import { Icon } from '@switchyard/design/icon.tsx';
import { type ReactNode, useId } from 'react';
import styles from './menu.module.css';

/**
 * The button with three dots, which opens further actions: buttons and links, each in a row. It is a popover of the browser,
 * which closes it on Escape and on a press elsewhere, and returns the focus.
 */
export function MoreMenu({ label = 'More actions', children }: { label?: string; children: ReactNode }) {
  const id = useId();
  const close = () => document.getElementById(id)?.hidePopover();
  return (
    <>
      <button type="button" className={`icon-button ${styles.more}`} aria-label={label} popoverTarget={id}>
        <Icon name="more" />
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a press on one of the actions also closes their list */}
      <div id={id} popover="auto" className={`popover ${styles.menu}`} onClickCapture={close}>
        {children}
      </div>
    </>
  );
}
