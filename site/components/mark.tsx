/** The mark: a main track, a branch that leaves it and joins it again. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" width="28" height="28" fill="none" aria-hidden="true">
      <path className="mark-main" d="M1 23h30" />
      <path className="mark-branch" d="M4 23c6 0 5-14 12-14s6 14 12 14" />
      <circle className="mark-stop" cx="16" cy="9" r="3.5" />
    </svg>
  );
}
