import { Icon } from '@switchyard/design/icon.tsx';
import type { ReactNode } from 'react';
import { DropMenu } from '../menu.tsx';
import styles from './filters.module.css';

interface FilterChipsProps<Name extends string> {
  /** All filters; the text of one that is not set is empty. */
  filters: readonly { name: Name; label: string; text: string }[];
  /** The filter whose editor is open. */
  edited: Name | undefined;
  onEdit: (name: Name | undefined) => void;
  onRemove: (name: Name) => void;
  renderEditor: (name: Name) => ReactNode;
  /** The field that searches the list. */
  children?: ReactNode;
}

/** The filters of a list as chips. A press opens the editor of one, and a menu adds another. */
export function FilterChips<Name extends string>(props: FilterChipsProps<Name>) {
  const { filters, edited, onEdit, onRemove, renderEditor, children } = props;
  const active = filters.filter(({ name, text }) => text !== '' || edited === name);
  const others = filters.filter((one) => !active.includes(one));
  return (
    <search className={styles.filters} aria-label="Filters">
      {children}
      {active.map(({ name, label, text }) => (
        <span key={name} className={styles.chip}>
          <DropMenu
            form={`Filter by ${label.toLowerCase()}`}
            from="start"
            isOpen={edited === name}
            // An editor that a header has opened begins with the indicator of its column.
            onOpenChange={(isOpen) => isOpen !== (edited === name) && onEdit(isOpen ? name : undefined)}
            className={styles.edit}
            button={
              <>
                {label} <b title={text}>{text}</b>
              </>
            }
          >
            <div className={styles.editor}>{renderEditor(name)}</div>
          </DropMenu>
          {text !== '' && (
            <button
              type="button"
              className={styles.remove}
              aria-label={`Remove the filter ${label}`}
              onClick={() => onRemove(name)}
            >
              <Icon name="close" />
            </button>
          )}
        </span>
      ))}
      {others.length > 0 && (
        <DropMenu
          className={`${styles.chip} ${styles.add}`}
          from="start"
          button={
            <>
              <Icon name="add" /> Filter
            </>
          }
        >
          {others.map(({ name, label }) => (
            <button key={name} type="button" onClick={() => onEdit(name)}>
              {label}
            </button>
          ))}
        </DropMenu>
      )}
    </search>
  );
}
