import { escapeInvisible } from '@switchyard/contract/presentation/escape-invisible.ts';
import { formatNumber } from '@switchyard/contract/presentation/format-quantity.ts';
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react';
import { containsWords } from '../../client/contains-words.ts';
import { findNextIndex } from '../keyboard/table-keys.ts';
import { usePopover } from '../use-popover.ts';
import styles from './chooser.module.css';
import type { ControlAttributes } from './field.tsx';

/** A thing to choose. */
export interface Choice {
  value: string;
  label: string;
}

interface ChooserProps extends ControlAttributes {
  value: string;
  choices: readonly Choice[];
  onChange: (value: string) => void;
}

/** Nobody reads more; further letters narrow the list. */
const SHOWN_MAX = 50;

/**
 * A choice of one of many things, by a part of its name or id. It shows which of how many match. The arrow keys move, Enter
 * chooses, and Escape keeps what was chosen.
 */
export function Chooser({ value, choices, onChange, ...attributes }: ChooserProps) {
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  const popover = useRef<HTMLDivElement>(null);
  /** What was typed; null while the list is closed. */
  const [typed, setTyped] = useState<string | null>(null);
  const [active, setActive] = useState(-1);
  const isOpen = typed !== null;
  const name = escapeInvisible(choices.find((one) => one.value === value)?.label ?? value);
  // An empty choice that is chosen, such as "Choose an instance", is what the field shows, and no thing to choose.
  const offered = choices.filter((one) => one.value !== '' || value !== '');
  const matching = offered.filter(({ label, value: id }) => containsWords(`${label} ${id}`, typed ?? ''));
  const shown = matching.slice(0, SHOWN_MAX);
  usePopover(popover, input, isOpen);
  useEffect(() => {
    if (active >= 0) document.getElementById(`${list}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [active, list]);
  const search = (text: string | null) => {
    setTyped(text);
    // The first match is what Enter chooses.
    setActive(text ? 0 : -1);
  };
  const choose = (choice: Choice | undefined) => {
    search(null);
    if (choice && choice.value !== value) onChange(choice.value);
  };
  const handleKey = (event: KeyboardEvent) => {
    const isMove = event.key === 'ArrowDown' || event.key === 'ArrowUp';
    const next = isMove ? findNextIndex(event.key, active, shown.length) : undefined;
    if (isMove && !isOpen) search('');
    else if (next !== undefined) setActive(next);
    else if (event.key === 'Escape' && isOpen) search(null);
    else if (event.key === 'Enter' && isOpen) choose(shown[active]);
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles.chooser}>
      <input
        {...attributes}
        ref={input}
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-activedescendant={isOpen && active >= 0 ? `${list}-${active}` : undefined}
        autoComplete="off"
        spellCheck={false}
        value={typed === null || typed === '' ? (isOpen ? '' : name) : typed}
        placeholder={name}
        onFocus={() => search('')}
        onClick={() => isOpen || search('')}
        onBlur={() => search(null)}
        onChange={(event) => search(event.target.value)}
        onKeyDown={handleKey}
      />
      <div ref={popover} popover="manual" className={`popover ${styles.list}`}>
        <p className="meta" role="status">
          {isOpen && `${formatNumber(shown.length)} of ${formatNumber(offered.length)}`}
        </p>
        <div id={list} role="listbox" aria-labelledby={attributes.id} tabIndex={-1}>
          {isOpen &&
            shown.map((choice, index) => (
              // The field keeps the focus: a press of the mouse must not take it.
              <div
                key={choice.value}
                id={`${list}-${index}`}
                role="option"
                tabIndex={-1}
                aria-selected={choice.value === value}
                data-active={index === active || undefined}
                className={styles.item}
                onMouseDown={(event) => event.preventDefault()}
                onMouseEnter={() => setActive(index)}
                onClick={() => choose(choice)}
                onKeyDown={handleKey}
              >
                <bdi>
                  <Marked text={escapeInvisible(choice.label)} part={typed ?? ''} />
                </bdi>
              </div>
            ))}
        </div>
      </div>
    </div>
  );
}

/** The text with its first part that matches marked. */
function Marked({ text, part }: { text: string; part: string }) {
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
