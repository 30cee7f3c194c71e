/** The mark: two tracks, and the switch that leads from one to the other. */
export function Logo() {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="30" height="30" fill="none" aria-hidden="true">
      <path className="mark-track" d="M2.5 22.5h27M2.5 9.5h27" />
      <path className="mark-switch" d="M5 22.5c11 0 11-13 22-13" />
    </svg>
  );
}
