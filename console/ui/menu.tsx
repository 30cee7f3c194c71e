import { Icon, type IconName } from '@switchyard/design/icon.tsx';
import { type ReactNode, useId, useRef, useState } from 'react';
import styles from './menu.module.css';
import { usePopover } from './use-popover.ts';

interface MoreMenuProps {
  label?: string;
  icon?: IconName;
  children: ReactNode;
}

/** The button with three dots, or another icon, which opens further actions: buttons and links, each in a row. */
export function MoreMenu({ label = 'More actions', icon = 'more', children }: MoreMenuProps) {
  return (
    <DropMenu label={label} className={`icon-button ${styles.more}`} button={<Icon name={icon} />}>
      {children}
    </DropMenu>
  );
}

interface DropMenuProps {
  /** Names a button without words. */
  label?: string;
  className?: string | undefined;
  button: ReactNode;
  /** The side of the button from which it extends. The default is its end. */
  from?: 'start' | 'end';
  /** Opens and closes it from elsewhere. */
  isOpen?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  /** Names what opens when it is a form. A press in it then leaves it open, and its content exists only while it is open. */
  form?: string;
  children: ReactNode;
}

/**
 * A button that opens a list of actions or a small form. It is a popover of the browser, which closes it on Escape and on a
 * press elsewhere, and returns the focus. A press on an action closes it too.
 */
export function DropMenu(props: DropMenuProps) {
  const { label, className, button, from = 'end', isOpen, onOpenChange, form, children } = props;
  const id = useId();
  const popover = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const [isShown, setShown] = useState(false);
  usePopover(popover, trigger, isOpen);
  const close = ({ target }: { target: EventTarget }) => {
    if (form === undefined && target instanceof Element && target.closest('a, button'))
      popover.current?.hidePopover();
  };
  return (
    <>
      <button ref={trigger} type="button" className={className} aria-label={label} popoverTarget={id}>
        {button}
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a press on one of the actions also closes their list */}
      <div
        ref={popover}
        id={id}
        popover="auto"
        {...(form !== undefined && { role: 'dialog', 'aria-label': form })}
        className={`popover ${form === undefined ? styles.menu : styles.form} ${styles[from]}`}
        onClickCapture={close}
        onToggle={({ newState }) => {
          setShown(newState === 'open');
          onOpenChange?.(newState === 'open');
        }}
      >
        {(form === undefined || isShown) && children}
      </div>
    </>
  );
}
