import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
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
  return (
    <ModalOverlay
      isOpen
      isDismissable={!isWorking}
      isKeyboardDismissDisabled={isWorking}
      onOpenChange={onClose}
      className={styles.overlay ?? ''}
    >
      <Modal className={styles.modal ?? ''}>
        <AriaDialog className={styles.dialog ?? ''}>
          <Heading slot="title">{title}</Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
