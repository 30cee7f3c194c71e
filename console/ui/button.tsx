import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from 'react';
import styles from './button.module.css';

/** `primary` is for the one action that a page is about, and `destroy` for confirmations. The default is `plain`. */
type Kind = 'primary' | 'plain' | 'destroy' | 'quiet';

type NativeProps = Omit<
  ButtonHTMLAttributes<HTMLButtonElement>,
  'className' | 'style' | 'onClick' | 'disabled'
>;

export interface ButtonProps extends NativeProps {
  kind?: Kind;
  isDisabled?: boolean;
  /** Presses do nothing meanwhile. The button keeps the focus, which a disabled one would lose. */
  isPending?: boolean;
  onPress?: () => unknown;
}

/** Returns the class of a button that opens a menu. The plain button has no style beside that of all buttons. */
export function formatButtonClass(kind: Kind): string {
  return [styles.button, styles[kind]].filter(Boolean).join(' ');
}

/** A button with words. Only one of a form has another type than "button". */
export function Button({
  kind = 'plain',
  isDisabled,
  isPending = false,
  onPress,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      disabled={isDisabled}
      aria-disabled={isPending || undefined}
      onClick={(event) => {
        if (isPending) event.preventDefault();
        else onPress?.();
      }}
      className={formatButtonClass(kind)}
    />
  );
}

interface AnchorProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'className' | 'style'> {
  kind?: Exclude<Kind, 'destroy'>;
  ref?: Ref<HTMLAnchorElement>;
}

function Anchor({ kind = 'plain', ...props }: AnchorProps) {
  return <a {...props} className={formatButtonClass(kind)} />;
}

/** A link to a page of the console that looks like a button. */
export const LinkButton = createLink(Anchor);
