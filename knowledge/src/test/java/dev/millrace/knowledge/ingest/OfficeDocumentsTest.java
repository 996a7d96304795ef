package dev.millrace.knowledge.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.millrace.knowledge.core.ParsedDocument;
import dev.millrace.knowledge.core.Section;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.PDPage;
import org.apache.pdfbox.pdmodel.PDPageContentStream;
import org.apache.pdfbox.pdmodel.encryption.AccessPermission;
import org.apache.pdfbox.pdmodel.encryption.StandardProtectionPolicy;
import org.apache.pdfbox.pdmodel.font.PDType1Font;
import org.apache.pdfbox.pdmodel.font.Standard14Fonts;
import org.apache.poi.xslf.usermodel.XMLSlideShow;
import org.apache.poi.xssf.usermodel.XSSFWorkbook;
import org.apache.poi.xwpf.usermodel.XWPFDocument;
import org.apache.poi.xwpf.usermodel.XWPFTable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** PDF and Office, also such files as were made to do harm. */
@Tag("slow")
class OfficeDocumentsTest {

    @Test
    @DisplayName("F-295: a PDF becomes its pages")
    void shouldReadThePagesOfAPdf() throws Exception {
        ParsedDocument parsed = parse(pdf(null, "The wheel turns.", "The weir leaks."));
        assertThat(parsed.title()).isEqualTo("The mill");
        assertThat(parsed.sections()).extracting(Section::path).containsExactly(List.of("Page 1"), List.of("Page 2"));
        assertThat(parsed.text()).contains("The wheel turns.").contains("The weir leaks.");
    }

    @Test
    @DisplayName("F-295: documents, sheets and slides of Office become sections and tables")
    void shouldReadOffice() throws Exception {
        // given
        ByteArrayOutputStream docx = new ByteArrayOutputStream();
        try (XWPFDocument document = new XWPFDocument()) {
            var heading = document.createParagraph();
            heading.setStyle("Heading1");
            heading.createRun().setText("The wheel");
            document.createParagraph().createRun().setText("It turns.");
            XWPFTable table = document.createTable(2, 2);
            table.getRow(0).getCell(0).setText("part");
            table.getRow(0).getCell(1).setText("age");
            table.getRow(1).getCell(0).setText("axle");
            table.getRow(1).getCell(1).setText("9");
            document.write(docx);
        }
        ByteArrayOutputStream xlsx = new ByteArrayOutputStream();
        try (XSSFWorkbook workbook = new XSSFWorkbook()) {
            var sheet = workbook.createSheet("Parts");
            var header = sheet.createRow(0);
            header.createCell(0).setCellValue("part");
            header.createCell(1).setCellValue("age");
            var row = sheet.createRow(1);
            row.createCell(0).setCellValue("axle");
            row.createCell(1).setCellValue(9);
            workbook.write(xlsx);
        }
        ByteArrayOutputStream pptx = new ByteArrayOutputStream();
        try (XMLSlideShow show = new XMLSlideShow()) {
            show.createSlide().createTextBox().setText("It turns.");
            show.write(pptx);
        }
        Section.Block table = new Section.Block.Table(List.of("part", "age"), List.of(List.of("axle", "9")));
        // then
        assertThat(parse(docx.toByteArray()).sections())
                .containsExactly(
                        new Section(List.of("The wheel"), List.of(new Section.Block.Paragraph("It turns."), table)));
        assertThat(parse(xlsx.toByteArray()).sections()).containsExactly(new Section(List.of("Parts"), List.of(table)));
        assertThat(parse(pptx.toByteArray()).sections())
                .containsExactly(new Section(List.of("Slide 1"), List.of(new Section.Block.Paragraph("It turns."))));
    }

    @Test
    void shouldRefuseWhatUnpacksToFarMoreThanItIs() throws IOException {
        assertRefused(zipped("word/document.xml", OfficeParser.MAX_XML_BYTES + 1), "document_too_large");
        assertRefused(zipped("word/media/a.png", OfficeParser.MAX_UNPACKED_BYTES + 1), "document_too_large");
        assertRefused(zipped("word/media/a.png", 1_000), "unreadable", "unsupported_format");
    }

    @Test
    void shouldRefuseWhatIsBrokenLockedOrEmpty() throws IOException {
        byte[] whole = pdf(null, "The wheel turns.");
        assertRefused(Arrays.copyOf(whole, 40), "unreadable");
        assertRefused(pdf("secret", "The wheel turns."), "unreadable");
        assertRefused(pdf(null, ""), "no_text");
    }

    @Test
    void shouldBoundText() throws Exception {
        byte[] pdf = pdf(null, "The wheel turns.");
        int chars = "The wheel turns.".length() + 1;
        Duration time = Parsers.Bounds.DEFAULT.time();
        assertThat(Parsers.parse(fetched(pdf), new Parsers.Bounds(time, chars)).text())
                .contains("turns");
        assertThatThrownBy(() -> Parsers.parse(fetched(pdf), new Parsers.Bounds(time, chars - 1)))
                .isInstanceOfSatisfying(
                        IngestException.class, e -> assertThat(e.code()).isEqualTo("document_too_large"));
    }

    @Test
    @DisplayName("whoever reads for ever is waited for no longer than allowed, and interrupted")
    void shouldBoundTime() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        assertThatThrownBy(() -> Parsers.bounded(new Parsers.Bounds(Duration.ofMillis(20), 100), budget -> {
                    try {
                        new CountDownLatch(1).await();
                    } catch (InterruptedException e) {
                        interrupted.countDown();
                    }
                    throw new IOException("expected to be stopped");
                }))
                .isInstanceOfSatisfying(
                        IngestException.class, e -> assertThat(e.code()).isEqualTo("parse_timeout"));
        assertThat(interrupted.await(10, TimeUnit.SECONDS)).isTrue();
    }

    private static void assertRefused(byte[] bytes, String... codes) {
        assertThatThrownBy(() -> parse(bytes))
                .isInstanceOfSatisfying(
                        IngestException.class, e -> assertThat(codes).contains(e.code()));
    }

    private static ParsedDocument parse(byte[] bytes) throws Exception {
        return Parsers.parse(fetched(bytes));
    }

    private static Fetcher.Fetched fetched(byte[] bytes) {
        return new Fetcher.Fetched("a", null, bytes);
    }

    private static byte[] zipped(String name, long size) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.putNextEntry(new ZipEntry(name));
            byte[] piece = new byte[1_000];
            for (long written = 0; written < size; written += piece.length) {
                zip.write(piece);
            }
            zip.closeEntry();
        }
        return bytes.toByteArray();
    }

    private static byte[] pdf(@Nullable String password, String... pages) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PDDocument document = new PDDocument()) {
            document.getDocumentInformation().setTitle("The mill");
            for (String text : pages) {
                PDPage page = new PDPage();
                document.addPage(page);
                if (!text.isEmpty()) {
                    try (PDPageContentStream content = new PDPageContentStream(document, page)) {
                        content.beginText();
                        content.setFont(new PDType1Font(Standard14Fonts.FontName.HELVETICA), 12);
                        content.newLineAtOffset(50, 700);
                        content.showText(text);
                        content.endText();
                    }
                }
            }
            if (password != null) {
                document.protect(new StandardProtectionPolicy("owner", password, new AccessPermission()));
            }
            document.save(bytes);
        }
        return bytes.toByteArray();
    }
}
