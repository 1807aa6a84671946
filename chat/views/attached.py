"""A file that was sent along, for its owner alone: pictures to be shown, texts to be saved.

What people upload is never a page of ours: the type is the one that we read off its bytes, nothing may run, nothing may be
guessed.
"""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from chat.models import Attachment, AttachmentKind

FOR_EVER = (
    "private, max-age=31536000, immutable"  # a file never changes; what is gone is gone with its message
)


@require_safe
def attachment(request: HttpRequest, attachment_id: UUID) -> HttpResponse:
    """The bytes of a picture, or the text of a file as a download."""
    row = get_object_or_404(Attachment.objects.owned_by(request.user), pk=attachment_id)
    is_picture = row.kind == AttachmentKind.PICTURE and row.data is not None
    body = bytes(row.data or b"") if is_picture else row.text.encode()
    content_type = row.media_type if is_picture else "text/plain; charset=utf-8"
    response = HttpResponse(body, content_type=content_type)
    disposition = content_disposition_header(as_attachment=not is_picture, filename=row.name)
    response["Content-Disposition"] = disposition or "attachment"
    response["Cache-Control"] = FOR_EVER
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response
