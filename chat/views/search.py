"""Looking for messages and names: a plain page with a form, whose list of hits is also what the dialog of the page shows.

Takes words, gives hits of the person's own, conversations that are called so before messages; `X-Fragment` asks for the list
alone. Where a message leads is a page of its own, which finds the place in the conversation.
"""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from chat import branches
from chat import search as index
from chat.generations import Rejected
from chat.models import Conversation, Message
from chat.views.answers import SeeOther, wants_json
from chat.views.pages import place

MOST_PAGES = 500


@never_cache
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """What is called so, then the messages in which every word stands, newest first."""
    query = request.GET.get("q", "").replace("\x00", "")[: index.MOST_QUERY_CHARS]
    number = request.GET.get("page", "1")
    page = min(int(number), MOST_PAGES) if number.isascii() and number.isdigit() and len(number) < 6 else 1
    found = index.find(request.user, query, page=page)
    context = {
        "query": query,
        "found": found,
        "named": index.named(request.user, query) if page == 1 else [],
        "following": page + 1 if found.is_more else None,
    }
    template = "chat/_hits.html" if "X-Fragment" in request.headers else "chat/search.html"
    return render(request, template, context)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def message(request: HttpRequest, message_id: UUID) -> HttpResponse:
    """Where a message stands in its conversation. On another branch than the one that is shown, GET says so and POST
    shows that branch: a link alone moves nothing."""
    rows = Message.objects.filter(conversation__in=Conversation.objects.owned_by(request.user))
    row = get_object_or_404(rows.select_related("conversation"), pk=message_id)
    if request.method == "POST":
        try:
            branches.switch(row)
        except Rejected:
            raise Http404 from None
        row.conversation.refresh_from_db()
    found = place(row.conversation, row.pk)
    if found is None:
        return render(request, "chat/elsewhere.html", {"message": row, "conversation": row.conversation})
    if wants_json(request):
        return JsonResponse({"url": found})
    return SeeOther(found)
