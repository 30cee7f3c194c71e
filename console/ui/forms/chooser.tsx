import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { Icon } from '@switchyard/design/icon.tsx';
import { useState } from 'react';
import { ComboBox, Input, ListBox, ListBoxItem, Popover, Button as PressButton } from 'react-aria-components';
import styles from './chooser.module.css';
import type { ControlAttributes } from './field.tsx';

/** A thing to choose. */
export interface Choice {
  value: string;
  label: string;
}

interface ChooserProps extends Partial<ControlAttributes> {
  /** Names the field for screen readers. */
  label: string;
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
}

/** Nobody reads more; further letters narrow the list. */
const SHOWN_MAX = 50;

/** A choice of one of many things, by a part of its name or id. It shows which of how many match. */
export function Chooser({ label, value, choices, onChange, id, ...described }: ChooserProps) {
  const chosen = choices.find((one) => one.value === value);
  const name = escapeInvisible(chosen?.label ?? '');
  const [typed, setTyped] = useState<string>();
  const matching = typed === undefined ? choices : choices.filter((one) => matches(one, typed));
  const shown = matching.slice(0, SHOWN_MAX);
  return (
    <ComboBox
      aria-label={label}
      menuTrigger="focus"
      allowsEmptyCollection
      selectedKey={value}
      inputValue={typed ?? name}
      onInputChange={(text) => setTyped(text === name ? undefined : text)}
      onOpenChange={(isOpen) => !isOpen && setTyped(undefined)}
      onSelectionChange={(key) => {
        setTyped(undefined);
        if (typeof key === 'string' && key !== value) onChange(key);
      }}
      items={shown.map((one) => ({ ...one, id: one.value }))}
    >
      <div className={styles.field}>
        <Input {...described} {...(id !== undefined && { id })} onFocus={(event) => event.target.select()} />
        <PressButton className={styles.open ?? ''} aria-label={`Show the choices of ${label.toLowerCase()}`}>
          <Icon name="down" />
        </PressButton>
      </div>
      <Popover className={`popover ${styles.list}`} placement="bottom start">
        <p className="meta">
          {formatNumber(shown.length)} of {formatNumber(choices.length)}
        </p>
        <ListBox renderEmptyState={() => <p className="meta">Nothing matches.</p>}>
          {({ value: key, label: text }: Choice) => (
            <ListBoxItem id={key} textValue={escapeInvisible(text)} className={styles.item ?? ''}>
              <bdi>
                <Marked text={escapeInvisible(text)} part={typed ?? ''} />
              </bdi>
            </ListBoxItem>
          )}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}

/** Returns true if the name or the id contains every typed word. */
export function matches({ value, label }: Choice, typed: string): boolean {
  const text = `${label} ${value}`.toLowerCase();
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The text with its first part that matches marked. */
export function Marked({ text, part }: { text: string; part: string }) {
  const at = part.trim() === '' ? -1 : text.toLowerCase().indexOf(part.trim().toLowerCase());
  if (at < 0) return text;
  const end = at + part.trim().length;
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, end)}</mark>
      {text.slice(end)}
    </>
  );
}
