import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import styles from './button.module.css';

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style'> {
  /** `primary` for the one action that a page is about, `danger` for one that destroys; the default is `plain`. */
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
}

/** A button with words. `isDisabled` and `onPress` are those of React Aria. */
export function Button({ kind = 'plain', ...rest }: ButtonProps) {
  return <AriaButton {...rest} className={`${styles.button} ${styles[kind]}`} />;
}
