/** The shape of a page whose data takes long: that of index.html, which the first visit shows. */
export function PageSkeleton() {
  return (
    <div className="shell-page" role="status" aria-label="Loading">
      <i className="bone bone-title" />
      <i className="bone" />
      <div className="shell-answer">
        <i className="bone bone-number" />
        <i className="bone bone-number" />
        <i className="bone bone-number" />
      </div>
      <i className="bone bone-picture" />
    </div>
  );
}
