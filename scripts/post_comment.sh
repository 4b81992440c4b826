#!/usr/bin/env bash
# Post a report as the comment of a pull request or issue, or edit the one that is there: `post_comment.sh REPORT.md`.
# It is found by the report's hidden first line, among the comments of AUTHOR only: nobody else's is ever edited.
#   GH_TOKEN  for gh    REPOSITORY  owner/name    NUMBER  of the pull request or issue
set -euo pipefail
report=$1
author=${AUTHOR:-github-actions[bot]}
IFS= read -r mark <"$report" || true
case $mark in
'<!-- passgrid-report'*' -->') ;;
*)
    echo "$report: its first line is no mark of a report; make it with: passgrid report RUN --format markdown" >&2
    exit 2
    ;;
esac
comments="repos/$REPOSITORY/issues/$NUMBER/comments"
found=$(MARK=$mark AUTHOR=$author gh api --paginate "$comments" \
    --jq '.[] | select(.user.login == env.AUTHOR and (.body | startswith(env.MARK))) | .id' | head -n 1)
if [ -n "$found" ]; then
    gh api --method PATCH "repos/$REPOSITORY/issues/comments/$found" --field "body=@$report" --jq .html_url
else
    gh api --method POST "$comments" --field "body=@$report" --jq .html_url
fi
