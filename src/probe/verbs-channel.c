/* probe/verbs-channel.c - lines of text between the two ends, over a socket pair or TCP. */
#include "probe/verbs-private.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_MAX_BYTES 4096 /* an address of 64 queue pairs needs 700 */

static gboolean fail(GError **error, const char *what, const char *why) {
  g_set_error(error, CSIM_ERROR, CSIM_ERROR_IO, "the other end: %s: %s", what, why);
  return FALSE;
}

/* --- sockets ------------------------------------------------------------------------ */

gboolean verbs_channel_pair(int out[2], GError **error) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, out) == 0 || fail(error, "socket pair", g_strerror(errno));
}

int verbs_channel_listen(int port, GError **error) {
  struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port), .sin6_addr = in6addr_any};
  int yes = 1, no = 0, fd = -1, listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener >= 0) {
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) == 0 && listen(listener, 1) == 0) fd = accept(listener, NULL, NULL);
  }
  if (fd < 0) fail(error, "listening", g_strerror(errno));
  if (listener >= 0) close(listener);
  return fd;
}

int verbs_channel_connect(const char *host_port, GError **error) {
  const char *colon = strrchr(host_port, ':');
  g_autofree char *host = colon ? g_strndup(host_port, (gsize)(colon - host_port)) : NULL;
  struct addrinfo want = {.ai_socktype = SOCK_STREAM}, *list = NULL;
  int fd = -1, code = colon ? getaddrinfo(host, colon + 1, &want, &list) : EAI_NONAME;
  if (code) {
    fail(error, host_port, colon ? gai_strerror(code) : "not HOST:PORT");
    return -1;
  }
  for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
    fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
    if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
      int reason = errno;
      close(fd);
      errno = reason;
      fd = -1;
    }
  }
  if (fd < 0) fail(error, host_port, g_strerror(errno));
  freeaddrinfo(list);
  return fd;
}

/* --- lines -------------------------------------------------------------------------- */

gboolean verbs_say(int fd, GError **error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments), *line = g_strconcat(text, "\n", NULL);
  va_end(arguments);
  for (const char *at = line; *at;) {
    ssize_t n = send(fd, at, strlen(at), MSG_NOSIGNAL);
    if (n < 0 && errno != EINTR) return fail(error, "send", g_strerror(errno));
    if (n > 0) at += n;
  }
  return TRUE;
}

/* Byte by byte: lines are short and rare, and nothing of the next one may be taken. */
gboolean verbs_hear(int fd, char *line, gsize size, GError **error) {
  for (gsize at = 0; at + 1 < size;) {
    ssize_t n = recv(fd, line + at, 1, 0);
    if (n == 0) return fail(error, "receive", "it has gone");
    if (n < 0 && errno != EINTR) return fail(error, "receive", g_strerror(errno));
    if (n > 0 && line[at] == '\n') {
      line[at] = '\0';
      return TRUE;
    }
    if (n > 0) at++;
  }
  return fail(error, "receive", "a line that is too long");
}

/* --- addresses ---------------------------------------------------------------------- */

static char *address_text(const End *end) {
  const Address *a = &end->own;
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "end %d %u %u %u %" G_GUINT64_FORMAT " ", a->mtu, a->lid, a->rkey, a->psn, (guint64)a->address);
  for (int i = 0; i < 16; i++) g_string_append_printf(out, "%02x", a->gid.raw[i]);
  for (int i = 0; i < end->n_qps; i++) g_string_append_printf(out, " %u", a->qpn[i]);
  return g_string_free(out, FALSE);
}

static gboolean read_number(const char *text, guint64 max, guint64 *out) {
  return text && g_ascii_string_to_unsigned(text, 10, 0, max, out, NULL);
}

static gboolean read_gid(const char *text, union ibv_gid *gid) {
  if (strlen(text) != 32) return FALSE;
  for (int i = 0; i < 16; i++) {
    int high = g_ascii_xdigit_value(text[2 * i]), low = g_ascii_xdigit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return FALSE;
    gid->raw[i] = (uint8_t)(high << 4 | low);
  }
  return TRUE;
}

/* end MTU LID RKEY PSN ADDRESS GID QPN... */
static gboolean read_address(End *end, const char *line) {
  g_auto(GStrv) words = g_strsplit(line, " ", -1);
  guint64 v[5];
  static const guint64 max[5] = {4096, 0xffff, G_MAXUINT32, 0xffffff, G_MAXUINT64};
  if ((int)g_strv_length(words) != 7 + end->n_qps || strcmp(words[0], "end")) return FALSE;
  for (int i = 0; i < 5; i++)
    if (!read_number(words[1 + i], max[i], &v[i])) return FALSE;
  Address *a = &end->other;
  *a = (Address){.mtu = (int)v[0], .lid = (uint16_t)v[1], .rkey = (uint32_t)v[2], .psn = (uint32_t)v[3], .address = v[4]};
  if (!read_gid(words[6], &a->gid)) return FALSE;
  for (int i = 0; i < end->n_qps; i++) {
    if (!read_number(words[7 + i], 0xffffff, &v[0])) return FALSE;
    a->qpn[i] = (uint32_t)v[0];
  }
  return TRUE;
}

gboolean verbs_exchange(End *end, GError **error) {
  char line[LINE_MAX_BYTES];
  g_autofree char *own = address_text(end);
  if (!verbs_say(end->channel, error, "%s", own) || !verbs_hear(end->channel, line, sizeof line, error)) return FALSE;
  return read_address(end, line) || fail(error, "its address", "not understood (as many queue pairs at both ends? the same version?)");
}
