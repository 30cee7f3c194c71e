import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, Ref } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import styles from './button.module.css';

/** `primary` is for the one action that a page is about, and `destroy` for confirmations. The default is `plain`. */
type Kind = 'primary' | 'plain' | 'destroy' | 'quiet';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style'> {
  kind?: Kind;
}

/** The plain button has no style beside that of all buttons. */
function formatClass(kind: Kind): string {
  return [styles.button, styles[kind]].filter(Boolean).join(' ');
}

/** A button with words. `isDisabled` and `onPress` are those of React Aria. */
export function Button({ kind = 'plain', ...rest }: ButtonProps) {
  return <AriaButton {...rest} className={formatClass(kind)} />;
}

interface AnchorProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'className' | 'style'> {
  kind?: Exclude<Kind, 'destroy'>;
  ref?: Ref<HTMLAnchorElement>;
}

function Anchor({ kind = 'plain', ...props }: AnchorProps) {
  return <a {...props} className={formatClass(kind)} />;
}

/** A link to a page of the console that looks like a button. */
export const LinkButton = createLink(Anchor);
