import {
  EVENT_TYPE_DESCRIPTIONS,
  EVENT_TYPES,
  type EventType,
} from '@switchyard/contract/account/event-types.ts';
import { TextField } from '../../ui/forms/text-field.tsx';
import styles from './webhooks-page.module.css';

/** The values of a webhook that a person can change. */
export interface WebhookDraft {
  endpoint_url: string;
  event_types: EventType[];
  description: string;
}

/** The fields of a webhook: its address, its events and its description. */
export function WebhookFields({
  draft,
  onChange,
}: {
  draft: WebhookDraft;
  onChange: (draft: WebhookDraft) => void;
}) {
  const toggle = (type: EventType) =>
    onChange({
      ...draft,
      event_types: EVENT_TYPES.filter((one) => draft.event_types.includes(one) !== (one === type)),
    });
  return (
    <>
      <TextField
        label="Address"
        type="url"
        help="An http or https URL that the server can reach."
        value={draft.endpoint_url}
        onChange={(endpoint_url) => onChange({ ...draft, endpoint_url })}
      />
      <fieldset className={styles.events}>
        <legend>Events</legend>
        {EVENT_TYPES.map((type) => (
          <label key={type} className={styles.event}>
            <input type="checkbox" checked={draft.event_types.includes(type)} onChange={() => toggle(type)} />
            <span>
              <code>{type}</code> <span className="soft">{EVENT_TYPE_DESCRIPTIONS[type]}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <TextField
        label="Description"
        value={draft.description}
        onChange={(description) => onChange({ ...draft, description })}
      />
    </>
  );
}
